"""Compression of bytes for the state store: compressing is several times faster than sending more bytes.

Most of a state are numbers of eight bytes whose upper ones hardly differ. So bytes are sorted by their places in such
words first, unless a sample gets larger by that: then zstd takes a third of the time and gives a third less.
"""

import os
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructType

from punctuated.arrow.ipc import Bundle, from_ipc, from_json, pack_bundle, to_ipc, to_json, unpack_bundle
from punctuated.errors import SnapshotError
from punctuated.operator.driver import JoinDriver
from punctuated.output.groups.group_by import GroupBy
from punctuated.snapshot.journal import Journal, restore
from punctuated.spark.session.query import Purpose, Query
from punctuated.storage.chunk_files import ChunkFiles, chunk_files

_CODEC = pa.Codec("zstd", compression_level=1)
_WORD = 8
_BY_PLACE = 1 << 63  # beside the length: bytes are sorted by their places
_FASTER = 1.1  # so much more is worth the time that it saves
_SAMPLE = 1 << 14  # bytes, from the middle
_MAPPED, _WHOLE = 1 << 22, 1 << 18
_SLACK = 1 << 17  # bytes of entries that are not worth a compaction
_SIZES = ("first", "stop", "full_bytes", "more_bytes", "n_buckets")
_HEAD = reduce(lambda told, name: told.add(name, LongType()), _SIZES, StructType()).add("token", StringType())
_NUMBER, _NAME = StructType().add("number", LongType()), StructType().add("name", StringType())
_DATA = StructType().add("data", BinaryType())  # as types: the text of a schema is sent to Spark twice, to be parsed


def compress(data: bytes | pa.Buffer) -> bytes:
    """Fewer bytes, with the length of the data in front."""
    given, size = memoryview(data), len(data)
    by_place = _is_better(given[size // 2 // _WORD * _WORD :][:_SAMPLE])
    head = size | (_BY_PLACE if by_place else 0)
    return head.to_bytes(_WORD, "little") + _packed(_sorted(given) if by_place else given)


def decompress(data: bytes) -> bytes:
    """The inverse."""
    head = int.from_bytes(data[:_WORD], "little")
    size = head & ~_BY_PLACE
    unpacked: bytes = _CODEC.decompress(memoryview(data)[_WORD:], size, asbytes=True)
    return _in_words(unpacked) if head & _BY_PLACE else unpacked


def _packed(data: bytes | memoryview) -> bytes:
    packed: bytes = _CODEC.compress(data, asbytes=True)
    return packed


def _is_better(sample: memoryview) -> bool:
    return len(_packed(_sorted(sample))) < _FASTER * len(_packed(sample))


def _sorted(data: memoryview) -> bytes:
    """All first bytes of the words, then all second ones, and so on; behind them what is no whole word."""
    n = len(data) // _WORD
    places = np.empty((_WORD, n), np.uint8)
    for place, ours in enumerate(np.frombuffer(data, np.uint8, n * _WORD).reshape(n, _WORD).T):
        places[place] = ours  # faster than all at once
    return places.tobytes() + data[n * _WORD :]


def _in_words(data: bytes) -> bytes:
    n = len(data) // _WORD
    words = np.empty((n, _WORD), np.uint8)
    for place, theirs in enumerate(np.frombuffer(data, np.uint8, n * _WORD).reshape(_WORD, n)):
        words[:, place] = theirs
    return words.tobytes() + data[n * _WORD :]


# Tables in Spark's state store: what goes beyond the memory of a bucket is there, and comes back when it is needed.
#
# They are committed with the batch that wrote them, or not at all. A bucket outlives a step in the worker's memory,
# but the access to the store does not: each step opens it again.
#
# The store gives a table as a whole, at some 50 MB/s. So each also lies in a file of the host, which is mapped: a
# look at a few rows costs what they are. A file has a name of its own, which the bucket's journal tells. One that is
# not there, or not whole, is written again from the store.


class StoredTables:
    """The tables of one bucket."""

    is_durable = True

    def __init__(self, stored: Any, files: ChunkFiles) -> None:
        self._stored, self._shared = stored, files
        self.table_bytes = _MAPPED if files.are_here else _WHOLE
        self.files = dict[str, str]()  # their names by those of tables; they are saved and loaded with the journal

    def open(self, stored: Any) -> None:
        """The map of the state store, as long as a step lasts."""
        self._stored = stored

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a table under a new name."""
        data = to_ipc(table)
        self._stored.updateValue((name,), (compress(data),))
        self.files[name] = os.urandom(16).hex()
        self._shared.write(self.files[name], memoryview(data))

    def read(self, name: str) -> pa.Table:
        """The table of that name."""
        file = self.files.get(name)
        data = None if file is None else self._shared.map(file)
        return from_ipc(self._from_store(name, file) if data is None else data)

    def remove(self, name: str) -> None:
        """Remove a table that is no longer needed."""
        self._stored.removeKey((name,))
        self._shared.forget([self.files.pop(name)] if name in self.files else [])

    def _from_store(self, name: str, file: str | None) -> pa.Buffer:
        found = self._stored.getValue((name,))
        if found is None:
            raise RuntimeError(f"table {name} of a bucket's state is missing: the checkpoint is damaged")
        data = decompress(bytes(found[0]))
        if file is not None:
            self._shared.write(file, data)
        return pa.py_buffer(data)


# The state of a bucket in Spark's state store: a journal of numbered entries, and a head that says which count.
#
# Each entry has the token of its commit and that of the entry before. The head has the last token, so the chain of
# tokens says which chunks of the host's files belong to the stored state.


@dataclass
class Bucket:
    """A bucket in memory."""

    driver: JoinDriver
    journal: Journal
    groups: GroupBy | None
    is_primary: bool  # of what is the same in all buckets
    purpose: Purpose  # of the query that it was made for: another query cannot use it
    tables: StoredTables | None = None  # what goes beyond its memory
    tokens: list[str] = field(default_factory=list)  # of the entries that make it up


def new_bucket(query: Query, number: int, tables: StoredTables | None = None) -> Bucket:
    """A bucket that holds nothing yet."""
    groups = query.join.groups() if query.join.grouping is not None else None
    return Bucket(query.new_driver(number, tables), Journal(), groups, number == 0, query.purpose, tables)


@dataclass(frozen=True)
class Head:
    """Which entries make up the state, and how large they are."""

    first: int = 0
    stop: int = 0
    full_bytes: int = 0  # of the entry that holds everything
    more_bytes: int = 0  # of those that follow
    n_buckets: int = 0
    token: str = ""


class StateLog:
    """Appends entries; starts again with a full entry when the others are larger than it."""

    def __init__(self, handle: StatefulProcessorHandle, *, may_overflow: bool = False) -> None:
        """`may_overflow`: buckets may put a part of their state elsewhere than in memory."""
        self._entries = handle.getMapState("entries", _NUMBER, _DATA)
        self._tables = handle.getMapState("tables", _NAME, _DATA) if may_overflow else None
        self._head = handle.getValueState("head", _HEAD)

    def head(self) -> Head | None:
        """The head, if there is a state at all; a step asks once and passes it on."""
        found = self._head.get()
        return None if found is None else Head(*found)

    def restore(self, query: Query, number: int, found: Head | None) -> Bucket:
        """The bucket as it was committed, or an empty one."""
        bucket, n_buckets = new_bucket(query, number, self._new_tables()), query.join.n_buckets
        if found is None:
            return bucket
        if found.n_buckets != n_buckets:
            raise SnapshotError(
                f"the checkpoint was written with {found.n_buckets} buckets, the query has {n_buckets}; "
                f"give pt.join(…, buckets={found.n_buckets}), or start with a new checkpoint"
            )
        bucket.tokens, entries = self._entries_of(found)
        if bucket.tables is not None and "files" in entries[-1]:  # not if the join had all in memory then
            bucket.tables.files = from_json(entries[-1]["files"])
        bucket.journal = restore(bucket.driver, [bytes(each["join"]) for each in entries])
        if bucket.groups is not None:
            bucket.groups.load(entries[-1]["groups"])
        return bucket

    def _new_tables(self) -> StoredTables | None:
        return None if self._tables is None else StoredTables(self._tables, chunk_files())

    def reopen(self, bucket: Bucket) -> None:
        """Give a bucket that stayed in memory since another step its tables by the way of this step."""
        if bucket.tables is not None:
            bucket.tables.open(self._tables)

    def _entries_of(self, head: Head) -> tuple[list[str], list[Bundle]]:
        """Tokens and contents of the entries, oldest first; the chain is followed back from the last one."""
        tokens: list[str] = []
        entries: list[Bundle] = []
        token = head.token
        for number in reversed(range(head.first, head.stop)):
            parts = unpack_bundle(decompress(chunk_files().read(token) or self._stored_entry(number)))
            tokens.insert(0, token)
            entries.insert(0, parts)
            token = bytes(parts["previous"]).decode()
        return tokens, entries

    def _stored_entry(self, number: int) -> bytes:
        found = self._entries.getValue((number,))
        if found is None:
            raise RuntimeError(f"entry {number} of a bucket's state is missing: the checkpoint is damaged")
        return bytes(found[0])

    def append(self, bucket: Bucket, n_buckets: int, found: Head | None, token: str) -> int:
        """Save what has changed since `found`; returns how many bytes that took."""
        head = found or Head()
        starts_anew = head.stop == head.first or head.more_bytes > head.full_bytes + _SLACK
        if starts_anew:
            bucket.journal = Journal()
        parts = {"join": bucket.journal.write(bucket.driver), "previous": head.token.encode()}
        if bucket.groups is not None:
            parts["groups"] = bucket.groups.save()
        if bucket.tables is not None:
            parts["files"] = to_json(bucket.tables.files)
        data = compress(pack_bundle(parts))
        self._entries.updateValue((head.stop,), (data,))
        chunk_files().write(token, data)
        if starts_anew:
            chunk_files().forget(bucket.tokens)
            bucket.tokens = []
            for number in range(head.first, head.stop):
                self._entries.removeKey((number,))
        bucket.tokens.append(token)
        first, full = (head.stop, len(data)) if starts_anew else (head.first, head.full_bytes)
        more = 0 if starts_anew else head.more_bytes + len(data)
        self._head.update((first, head.stop + 1, full, more, n_buckets, token))
        return len(data)
