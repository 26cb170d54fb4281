"""The state of a bucket in Spark's state store: a journal of numbered entries, and a head that says which count.

Each entry has the token of its commit and that of the entry before. The head has the last token, so the chain of tokens
says which chunks of the host's files belong to the stored state.
"""

from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle
from pyspark.sql.types import BinaryType, LongType, StringType, StructType

from punctuated.arrow.ipc import Bundle, from_json, pack_bundle, to_json, unpack_bundle
from punctuated.errors import SnapshotError
from punctuated.operator.driver import JoinDriver
from punctuated.output.groups.group_by import GroupBy
from punctuated.snapshot.journal import Journal, restore
from punctuated.spark.session.query import Purpose, Query
from punctuated.spark.state.store import StoredTables, compress, decompress
from punctuated.storage.chunk_files import chunk_files

_SLACK = 1 << 17  # bytes of entries that are not worth a compaction
_SIZES = ("first", "stop", "full_bytes", "more_bytes", "n_buckets")
_HEAD = reduce(lambda schema, name: schema.add(name, LongType()), _SIZES, StructType()).add("token", StringType())
_NUMBER = StructType().add("number", LongType())
_NAME = StructType().add("name", StringType())
_DATA = StructType().add("data", BinaryType())  # as types: the text of a schema is sent to Spark twice, to be parsed


@dataclass
class Bucket:
    """A bucket in memory, and what is needed to save it."""

    driver: JoinDriver
    journal: Journal
    groups: GroupBy | None
    is_primary: bool  # whether it emits what is the same in all buckets
    purpose: Purpose  # of its query: a query of another purpose cannot use it
    tables: StoredTables | None = None  # what goes beyond its memory
    tokens: list[str] = field(default_factory=list)  # of its entries


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
    more_bytes: int = 0  # of the entries that follow
    n_buckets: int = 0
    token: str = ""


class StateLog:
    """Appends entries; starts again with a full entry when the others are larger than it."""

    def __init__(self, handle: StatefulProcessorHandle, *, may_spill: bool = False) -> None:
        """`may_spill`: buckets may put a part of their state into stored tables."""
        self._entries = handle.getMapState("entries", _NUMBER, _DATA)
        self._tables = handle.getMapState("tables", _NAME, _DATA) if may_spill else None
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
        """Let a bucket that stayed in memory since an earlier step reach its tables through this step."""
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
