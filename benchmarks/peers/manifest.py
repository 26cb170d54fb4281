"""What one set of inputs is: a workload as files that every system reads, and what a correct join of them gives.

Only the standard library is imported: the peers read this file in environments of their own.

Every stream has the columns `key`, `ts` and `val`. A pair is a result if the keys are equal and
`-right_window <= right.ts - left.ts <= left_window`: the later tuple lies in the window of the earlier one.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FORMAT = 1  # of the files on disk; others are written again
NAME = "manifest.json"

# Stays far below 2^63 even in a sum over 10^11 results, so no system needs to wrap around or to widen its sums.
CHECKSUM = "({key} * 131 + {left_val} * 8191 + {right_val}) % 1000003"


@dataclass(frozen=True)
class Manifest:
    """A workload on disk.

    Args:
        folder: `left/*.parquet`, `right/*.parquet` (a file per micro-batch and side, in order of their names and of
            their times of change), `left.csv`, `right.csv` (whole streams: key, ts in microseconds, val) and
            `named/` (the same with a header).
        size: what the workload was asked for: tuples per stream, or auctions.
        batch_rows: tuples of both streams per micro-batch.
        batches: how many of each stream every micro-batch has.
        results: number of pairs.
        checksum: sum of `CHECKSUM` over the pairs.
    """

    folder: str
    workload: str
    size: int
    batch_rows: int
    left_window_us: int
    right_window_us: int
    batches: list[list[int]]
    results: int
    checksum: int
    format: int = FORMAT

    @property
    def rows(self) -> int:
        """Tuples of both streams."""
        return sum(map(sum, self.batches))

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
