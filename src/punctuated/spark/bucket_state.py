"""The state of a bucket in Spark's state store: a journal in numbered entries, and a head that says which count."""

from dataclasses import dataclass

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from punctuated.errors import SnapshotError
from punctuated.join.driver import JoinDriver
from punctuated.join.group_by import GroupBy
from punctuated.join.journal import Journal, restore
from punctuated.join.parts import pack_parts, unpack_parts
from punctuated.spark.query import Query

_SLACK = 1 << 20  # bytes of entries that are not worth a compaction


@dataclass
class Bucket:
    """A bucket in memory."""

    driver: JoinDriver
    journal: Journal
    groups: GroupBy | None
    speaks_for_all: bool  # of what is the same in all buckets


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
    """Appends entries; starts anew with a full one when the others outweigh it."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._entries = handle.getMapState("entries", "number BIGINT", "data BINARY")
        self._head = handle.getValueState(
            "head", "first BIGINT, stop BIGINT, full_bytes BIGINT, more_bytes BIGINT, n_buckets BIGINT, token STRING"
        )

    def head(self) -> Head | None:
        """The head, if there is a state at all; a step asks once and hands it on."""
        found = self._head.get() if self._head.exists() else None
        return None if found is None else Head(*found)

    def restore(self, query: Query, number: int, found: Head | None) -> Bucket:
        """The bucket as it was committed, or an empty one."""
        driver = query.new_driver(number)
        groups = query.new_groups(driver) if query.grouping is not None else None
        head = found or Head(n_buckets=query.n_buckets)
        if head.n_buckets != query.n_buckets:
            raise SnapshotError(
                f"the checkpoint was written with {head.n_buckets} buckets, the query has {query.n_buckets}; "
                f"give pt.join(…, buckets={head.n_buckets}), or start with a new checkpoint"
            )
        entries = [unpack_parts(bytes(self._entry(n))) for n in range(head.first, head.stop)]
        journal = restore(driver, [bytes(parts["join"]) for parts in entries])
        if groups is not None and entries:
            groups.load(entries[-1]["groups"])
        return Bucket(driver, journal, groups, speaks_for_all=number == 0)

    def _entry(self, number: int) -> bytes:
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
        parts = {"join": bucket.journal.write(bucket.driver)}
        if bucket.groups is not None:
            parts["groups"] = bucket.groups.save()
        data = pack_parts(parts)
        self._entries.updateValue((head.stop,), (data,))
        if starts_anew:
            for number in range(head.first, head.stop):
                self._entries.removeKey((number,))
        first, full = (head.stop, len(data)) if starts_anew else (head.first, head.full_bytes)
        more = 0 if starts_anew else head.more_bytes + len(data)
        self._head.update((first, head.stop + 1, full, more, n_buckets, token))
        return len(data)
