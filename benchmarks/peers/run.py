"""Runs workloads on the peers, each system in a process of its own, and compares what they did.

    python -m benchmarks.peers.run --workload w1 --size 200000 --batch-rows 100000 --out out/peers.json

from the root of the repository. Results are checked against DuckDB's. Prints a table, writes JSON.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.peers.environments import ROOT, NoEnvironment, parquet_jars, python_of
from benchmarks.peers.inputs import WORKLOADS, write_inputs
from benchmarks.peers.manifest import Manifest
from benchmarks.peers.outcome import Outcome, load_outcome
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class System:
    """A program that measures a system.

    Args:
        module: started as `python -m module`, with the options of `outcome.run_program`.
        environment: a name known to `environments`; none is this one.
        arguments: further options.
    """

    module: str
    environment: str | None = None
    arguments: tuple[str, ...] = ()

    def with_options(self, *options: str) -> "System":
        """The same program with further options."""
        return replace(self, arguments=(*self.arguments, *options))


OURS, SPARKS, FLINKS = (f"benchmarks.peers.{name}" for name in ("punctuated_join", "spark_native", "flink_sql"))
FLINK_REUSE = System(FLINKS, "flink", ("--conf", "pipeline.object-reuse=true"))
SPARK = System(SPARKS, arguments=("--store", "default"))
JOINS = {
    "punctuated": System(OURS),
    "punctuated-disk": System(OURS, arguments=("--memory", "200000")),
    "punctuated-floor": System(OURS, arguments=("--what", "floor")),
    "punctuated-lane": System(OURS, arguments=("--lane",)),
    "punctuated-lane-disk": System(OURS, arguments=("--lane", "--memory", "200000")),
    "punctuated-lane-floor": System(OURS, arguments=("--lane", "--what", "floor")),
    "spark-default": SPARK,
    "spark-rocksdb": System(SPARKS, arguments=("--store", "rocksdb")),
    "flink": System(FLINKS, "flink"),
    "flink-reuse": FLINK_REUSE,
    "pathway": System("benchmarks.peers.pathway_join", "pathway"),
    "punctuated-tables": System("benchmarks.peers.tables_join"),
    "datafusion": System("benchmarks.peers.datafusion_join", "datafusion"),
}
INTO_FILES = {  # from files, too: of ours those of the lane are read as files
    "punctuated-files": System(OURS, arguments=("--sink", "files")),
    "punctuated-lane-files": System(OURS, arguments=("--lane", "--sink", "files")),
    "punctuated-lane-delta": System(OURS, arguments=("--lane", "--sink", "delta")),
    "punctuated-spark-files": System(OURS, arguments=("--sink", "spark-files")),
    "spark-files": SPARK.with_options("--sink", "files"),
    "flink-files": FLINK_REUSE.with_options("--sink", "files"),
    "flink-files-checkpoints": FLINK_REUSE.with_options("--sink", "files", "--checkpoints"),
}
_GROUPED = ("punctuated", "punctuated-lane", "spark-default", "flink-reuse", *INTO_FILES)
GROUPS = {f"{name}-groups": (JOINS | INTO_FILES)[name].with_options("--what", "groups") for name in _GROUPED}
SYSTEMS = JOINS | INTO_FILES | GROUPS
DESIGNED = {"w1": 2_000_000, "w2": 2_000_000, "w2-large": 2_500_000, "w3": 200_000, "w4": 1_000_000}
DESIGNED |= {"q8": 10_000_000, "q9": 10_000_000}
PER_SIZE = {"w3": 10, "w4": 3, "q8": 0.08, "q9": 0.98}  # rows of all streams, about; 2 of the others
LEAST_BATCHES = 3  # the first is not counted
LIMITS = {("w1", "pathway"): 100_000}  # of `size`: the results of one batch are all in memory at once


def run_system(
    name: str,
    manifest: Manifest,
    *,
    system: System | None = None,
    arguments: Iterable[str] = (),
    install: bool = False,
    timeout_s: float = 3600,
) -> Outcome:
    """Run one system on written inputs.

    Args:
        name: of the system, and of the files `<name>.log` and `<name>.json` beside the inputs.
        manifest: the inputs.
        system: how to start it, by default the one of that name in `SYSTEMS`.
        arguments: options of its program, on top of the system's own.
        install: make a missing environment.
        timeout_s: give up after so many seconds.
    """
    system = system or SYSTEMS[name]
    try:
        python = python_of(system.environment, install) if system.environment else Path(sys.executable)
        if system.module == FLINKS and "files" in system.arguments:
            system = system.with_options(*(f"--jars={jar}" for jar in parquet_jars(install)))
    except NoEnvironment as error:
        return Outcome(name, status="skipped", note=str(error))
    written = manifest.path / f"{name}.json"
    written.unlink(missing_ok=True)
    options = ["--system", name, "--inputs", manifest.folder, "--outcome", str(written)]
    command = [str(python), "-m", system.module, *options, *system.arguments, *arguments]
    log = manifest.path / f"{name}.log"
    failure = run_process(command, log, timeout_s)
    if failure or not written.exists():
        return Outcome(name, status="failed", note=f"{failure or 'wrote nothing'}; see {log}")
    return load_outcome(written).judged(manifest)


def run_process(command: list[str], log: Path, timeout_s: float) -> str:
    """Why a command failed, or nothing. It leads a group of its own, so that its JVM ends with it."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)  # not waited for yet, so the number is still its own
            process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return f"no end after {timeout_s:g} s"
    return f"exit code {code}" if code else ""


def outcomes_table(manifest: Manifest, outcomes: list[Outcome]) -> Table:
    """What to look at: rates, how many times slower than the fastest on the same rows, and the largest state."""
    title = f"{manifest.workload.upper()}, {manifest.rows:,} rows, {manifest.results:,} results"
    table = Table(title=title)
    for column in ("system", "rows", "rows/s", "slower", "run", "state rows", "bytes/row", "results", "durable"):
        table.add_column(column, no_wrap=True, justify="left" if column in ("system", "durable") else "right")
    comparable = [one for one in outcomes if one.status == "ok" and one.rows == manifest.rows]
    best = max((one.rows_per_s or 0 for one in comparable), default=0)
    for one in outcomes:
        slower = f"{best / one.rows_per_s:.1f} x" if one in comparable and one.rows_per_s else ""
        status = "equal" if one.status == "ok" else f"[red]{one.status}[/red]"
        rates = _number(one.rows), _number(one.rows_per_s), slower, _seconds(one.seconds)
        table.add_row(one.system, *rates, *_state(one), status, one.durable)
    return table


def _number(value: float | None) -> str:
    return f"{value:,.0f}" if value else ""


def _seconds(value: float | None) -> str:
    return f"{value:,.1f} s" if value is not None else ""


def _state(outcome: Outcome) -> tuple[str, str]:
    """Rows and bytes per row when the state was largest."""
    largest = max(outcome.batches, key=lambda batch: batch.state_rows or 0, default=None)
    if largest is None or not largest.state_rows:
        return "", ""
    return _number(largest.state_rows), _number((largest.state_bytes or 0) / largest.state_rows)


def save(path: Path, manifest: Manifest, outcomes: list[Outcome]) -> None:
    """One JSON file for a run."""
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {**machine, "inputs": asdict(manifest), "outcomes": [asdict(outcome) for outcome in outcomes]}
    path.write_text(json.dumps(found, indent=1))


def arguments_of(name: str, options: argparse.Namespace) -> list[str]:
    """Options that only programs on Spark have."""
    spark = ["--partitions", str(options.partitions)]
    if SYSTEMS[name].module == SPARKS:
        return [*spark, "--checks", options.checks]
    return spark if SYSTEMS[name].module == OURS else []


def measure(name: str, options: argparse.Namespace) -> Outcome:
    """Run one system, on fewer rows if it has a limit."""
    size = min(options.size, LIMITS.get((options.workload, name), options.size))
    manifest = write_inputs(options.workload, size, options.batch_rows, options.cache)
    outcome = run_system(
        name,
        manifest,
        arguments=arguments_of(name, options),
        install=options.install,
        timeout_s=options.timeout,
    )
    limited = f"{outcome.note}; size limited to {size:,}"
    return replace(outcome, note=limited) if size < options.size and outcome.status == "ok" else outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", choices=list(WORKLOADS), default="w1")
    parser.add_argument(
        "--size",
        "--rows",
        type=int,
        help="tuples per stream; in W3 auctions, with nine bids each, in NEXMark events; as designed",
    )
    parser.add_argument("--batch-rows", type=int, default=100_000, help="tuples of all streams per micro-batch")
    parser.add_argument("--systems", help=f"comma-separated, by default all that can: {', '.join(SYSTEMS)}")
    parser.add_argument("--cache", type=Path, default=Path("out/bench"), help="folder for inputs and logs")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/peers.json"))
    parser.add_argument(
        "--install", action="store_true", help="install Flink, Pathway and DataFusion into .bench if missing"
    )
    parser.add_argument("--partitions", type=int, default=2, help="Spark's shuffle partitions")
    parser.add_argument("--checks", choices=["apart", "same"], default="apart", help="as in spark_native.py")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds per system")
    options = parser.parse_args()
    least = LEAST_BATCHES * options.batch_rows / PER_SIZE.get(options.workload, 2)
    options.size = options.size or max(DESIGNED[options.workload], int(least))
    able = SYSTEMS if WORKLOADS[options.workload].grouped else JOINS | INTO_FILES
    names = options.systems.split(",") if options.systems else list(able)
    if unknown := set(names) - set(able):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(able)}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    manifest = write_inputs(options.workload, options.size, options.batch_rows, options.cache)
    outcomes = []
    for name in names:
        with console.status(f"running {name}"):
            outcomes.append(measure(name, options))
        save(options.out, manifest, outcomes)
    console.print(outcomes_table(manifest, outcomes))
    for outcome in outcomes:
        console.print(f"{outcome.system}: {outcome.note}", highlight=False)


if __name__ == "__main__":
    main()
