"""What one set of inputs is: a workload as files that every system reads, and what a correct join of them gives.

Only the standard library is imported: the peers read this file in environments of their own.

Every stream has the columns `key`, `ts` and `val`. A tuple of each is a result if the keys are equal and of every two
the later one lies in the window of the earlier one: `-window of b <= b.ts - a.ts <= window of a`. With one window for
all, every two members are at most so far apart (WJ-03). Where tuples of the first stream expire by themselves, they
have a column `until`, and the others are not later than that.

Where keys of the first stream are unique, results may be grouped by key: their number, and the largest `val` of the
last stream.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from typing import NamedTuple

FORMAT = 3  # of the files on disk; others are written again
NAME = "manifest.json"
STREAMS = "abcdefgh"  # what the streams are called, in the order of their places


class Near(NamedTuple):
    """Two streams of a join: a tuple of `other` may be so much earlier or later than its partner of `ours`."""

    ours: str
    other: str
    earlier_us: int
    later_us: int
    expires: bool = False  # `ours` has a column `until`


def near_others(windows_us: Sequence[int], place: int, expiring: bool = False) -> list[Near]:
    """How near a tuple of the stream at a place must be to those of all streams before it.

    >>> [near[:4] for near in near_others([7, 8, 9], 2)]
    [('a', 'c', 9, 7), ('b', 'c', 9, 8)]
    """
    places = range(place)
    return [Near(STREAMS[i], STREAMS[place], windows_us[place], windows_us[i], expiring and i == 0) for i in places]


def from_clause(windows_us: Sequence[int], expiring: bool, key: str, condition: Callable[[Near], str]) -> str:
    """The join in SQL, one stream after the other, each with a condition on its distance from every one before it.

    >>> from_clause([7, 8], False, "key", lambda near: f"b.ts - a.ts BETWEEN {-near.earlier_us} AND {near.later_us}")
    'FROM a JOIN b ON a.key = b.key AND b.ts - a.ts BETWEEN -8 AND 7'
    """
    clause = f"FROM {STREAMS[0]}"
    for place, name in enumerate(STREAMS[1 : len(windows_us)], start=1):
        times = (condition(near) for near in near_others(windows_us, place, expiring))
        clause += f" JOIN {name} ON " + " AND ".join([f"{STREAMS[0]}.{key} = {name}.{key}", *times])
    return clause


def checksum_of(key: str, values: Sequence[str]) -> str:
    """A term of SQL whose sum over all results is compared.

    It stays far below 2^63 with up to three streams, and even in a sum over 10^11 results, so no system needs to wrap
    around or to widen its sums.

    >>> checksum_of("k", ["u", "v", "w"])
    '(k * 131 + ((u * 8191 + v) * 8191 + w)) % 1000003'
    """
    digits = reduce(lambda longer, value: f"({longer} * 8191 + {value})", values)
    return f"({key} * 131 + {digits}) % 1000003"


GROUPS_CHECKSUM = checksum_of("key", ["n", "highest"])  # of groups


@dataclass(frozen=True)
class Manifest:
    """A workload on disk.

    Args:
        folder: `a/*.parquet`, `b/*.parquet`, … (a file per micro-batch and stream, in order of their names and of
            their times of change), `a.csv`, `b.csv`, … (whole streams: key, ts in microseconds, val) and `named/`
            (the same with a header).
        size: what the workload was asked for: tuples per stream, or auctions.
        batch_rows: tuples of all streams per micro-batch.
        windows_us: of each stream, how long a tuple waits for later ones of the others.
        batches: how many of each stream every micro-batch has.
        results: their number.
        checksum: sum of `checksum_of` over the results.
        groups: how many keys have results, where they may be grouped.
        groups_checksum: sum of `GROUPS_CHECKSUM` over the groups.
        expiring: whether the first stream has a column `until`.
    """

    folder: str
    workload: str
    size: int
    batch_rows: int
    windows_us: list[int]
    batches: list[list[int]]
    results: int
    checksum: int
    groups: int | None = None
    groups_checksum: int | None = None
    expiring: bool = False
    format: int = FORMAT

    @property
    def names(self) -> list[str]:
        """What the streams are called, a letter each."""
        return list(STREAMS[: len(self.windows_us)])

    @property
    def rows(self) -> int:
        """Tuples of all streams."""
        return sum(map(sum, self.batches))

    def columns_of(self, name: str) -> list[str]:
        """What a stream has in its CSV file."""
        return ["key", "ts", "val", *(["until"] if self.expiring and name == STREAMS[0] else [])]

    def expected(self, what: str) -> tuple[int, int]:
        """How many results or groups there are, and their checksum."""
        if what != "groups":
            return self.results, self.checksum
        if self.groups is None or self.groups_checksum is None:
            raise ValueError(f"{self.workload} has no groups: keys of its first stream come several times")
        return self.groups, self.groups_checksum

    @property
    def path(self) -> Path:
        """The folder, as a path."""
        return Path(self.folder)

    def save(self) -> None:
        """Written last and at once: a folder with a manifest is complete."""
        aside = self.path / f"{NAME}.tmp"
        aside.write_text(json.dumps(asdict(self), indent=1))
        aside.replace(self.path / NAME)


def load_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, or none if there is none of this format."""
    path = folder / NAME
    found = json.loads(path.read_text()) if path.exists() else {}
    return Manifest(**{**found, "folder": str(folder)}) if found.get("format") == FORMAT else None
