"""What one system did with one set of inputs, as plain data, and the command line that every system's program has.

Only the standard library is imported: the peers read this file in environments of their own.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.peers.manifest import Manifest, load_manifest


@dataclass(frozen=True)
class Batch:
    """One micro-batch: the whole trigger, and the state after it.

    Bytes are what each system says of itself: ours the arrays of all buckets, Spark's the memory of its state store.
    """

    rows: int
    seconds: float
    results: int | None = None
    state_rows: int | None = None  # tuples of all streams; where joins are chained, what they hand on as well
    state_bytes: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What a run gave.

    Args:
        system: its name.
        status: `ok`, `wrong` (results differ from DuckDB's), `skipped` or `failed`.
        note: why, or what the figures mean.
        rows: tuples of all streams.
        seconds: the whole run, from the start of the query to its end.
        rows_per_s: the figure to compare. With micro-batches: whole triggers, without the first one.
        results: number of result rows, or of groups.
        checksum: sum of `manifest.checksum_of` over them.
        what: `join`, or `groups` of its results.
        durable: what outlives a crash, in a few words.
        batches: the micro-batches, for systems that have them.
        details: whatever else is worth keeping, such as versions and settings.
    """

    system: str
    status: str = "ok"
    note: str = ""
    rows: int = 0
    seconds: float | None = None
    rows_per_s: float | None = None
    results: int | None = None
    checksum: int | None = None
    what: str = "join"
    durable: str = ""
    batches: list[Batch] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def judged(self, manifest: Manifest) -> "Outcome":
        """The same, `wrong` if results or rows are not those of the inputs."""
        if self.status != "ok":
            return self
        found = self.rows, self.results, self.checksum
        expected = manifest.rows, *manifest.expected(self.what)
        if found == expected:
            return self
        note = f"rows, results, checksum: {found}; expected {expected}"
        return replace(self, status="wrong", note=note)


def steady_rate(batches: list[Batch]) -> float | None:
    """Rows per second of the micro-batches with rows, without the first one; none if there is only one."""
    later = [batch for batch in batches if batch.rows][1:]
    return sum(batch.rows for batch in later) / sum(batch.seconds for batch in later) if later else None


def of_whole_run(
    system: str,
    manifest: Manifest,
    seconds: float,
    found: tuple[int, int],
    *,
    timed_s: float | None = None,
    **more: Any,
) -> Outcome:
    """What a run without micro-batches gave: `found` are results and checksum, `timed_s` what the rate is taken of."""
    rate = manifest.rows / (seconds if timed_s is None else timed_s)
    results, checksum = found
    return Outcome(
        system, rows=manifest.rows, seconds=seconds, rows_per_s=rate, results=results, checksum=checksum, **more
    )


def of_batches(system: str, batches: list[Batch], seconds: float, found: list[dict[str, int]], **more: Any) -> Outcome:
    """What a run in micro-batches gave; of each `found` has how many results it had, and their checksum."""
    return Outcome(
        system,
        rows=sum(batch.rows for batch in batches),
        seconds=seconds,
        rows_per_s=steady_rate(batches),
        results=sum(one["n"] for one in found),
        checksum=sum(one["checksum"] or 0 for one in found),  # none in a micro-batch without results
        batches=batches,
        **more,
    )


def load_outcome(path: Path) -> Outcome:
    """What `save_outcome` wrote."""
    found = json.loads(path.read_text())
    return Outcome(**{**found, "batches": [Batch(**batch) for batch in found["batches"]]})


def save_outcome(outcome: Outcome, path: Path) -> None:
    """Write an outcome as JSON."""
    path.write_text(json.dumps(asdict(outcome), indent=1))


def run_program(measure: Callable[[Manifest, argparse.Namespace], Outcome], parser: argparse.ArgumentParser) -> None:
    """The main function of a system's program: inputs and options in, an outcome out."""
    parser.add_argument("--system", required=True, help="name of the outcome")
    parser.add_argument("--inputs", type=Path, required=True, help="folder written by inputs.py")
    parser.add_argument("--outcome", type=Path, required=True, help="JSON file to write")
    options = parser.parse_args()
    manifest = load_manifest(options.inputs)
    if manifest is None:
        parser.error(f"{options.inputs} has no inputs")
    save_outcome(measure(manifest, options), options.outcome)
