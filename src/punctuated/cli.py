"""The `punctuated` command: a thin shell that parses, calls one function of the package, and prints.

Invariants: with `--json` standard output carries one JSON value and nothing else (`demo`: one per line); an error the
user can mend is one red line on standard error and exit code 2, never a traceback; exit code 1 means that a claim of an
experiment failed.
"""

import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

from punctuated.cli_calibrate import calibrate_machine
from punctuated.cli_cost import cost_app
from punctuated.cli_output import AsJson, print_json
from punctuated.errors import PunctuatedError

if TYPE_CHECKING:
    import pyarrow as pa

    from punctuated.experiments import Experiment
    from punctuated.experiments.engine import Engine

_VERSIONS_OF = ("punctuated", "pyspark", "pyarrow", "pandas", "numpy", "numba", "sqlglot")


class _Group(TyperGroup):
    """Turns every error of ours into one line and exit code 2, whichever subcommand raised it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except PunctuatedError as error:
            Console(stderr=True).print(Text(f"error: {error}", style="red"), soft_wrap=True)
            raise typer.Exit(2) from error


class EngineName(StrEnum):
    """What runs the joins of an experiment."""

    tables = "tables"
    spark = "spark"


class Punctuations(StrEnum):
    """How a generated stream says that a value is over."""

    flag = "flag"
    rows = "rows"
    none = "none"
    irrelevant = "irrelevant"


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Stream joins that know when a key is done.",
)
experiment_app = typer.Typer(no_args_is_help=True, help="Rerun the published experiments and draw their figures.")
app.add_typer(experiment_app, name="experiment")
app.add_typer(cost_app, name="cost")
cost_app.command("calibrate")(calibrate_machine)

ResultsFolder = Annotated[Path, typer.Option("--out", help="Folder of the results, one JSON file per experiment.")]
ExperimentName = Annotated[str, typer.Argument(metavar="NAME|all", help="See `punctuated experiment list`.")]
OnEngine = Annotated[
    EngineName, typer.Option("--engine", help="What runs the joins; results on Spark are called NAME_spark.")
]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the plot and the summary.")] = Path("out/demo"),
    auctions: Annotated[int, typer.Option(min=1, help="Number of auctions; nine times as many bids.")] = 20_000,
    batches: Annotated[int, typer.Option(min=1, help="Over how many batches they are spread.")] = 40,
    spark: Annotated[bool, typer.Option("--spark/--no-spark", help="On a local Spark, or on tables.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON value per line and nothing else.")] = False,
) -> None:
    """Run the auction query on a local Spark, with and without punctuations, and compare what has to be remembered."""
    with _plot_extra():
        import_module("matplotlib")  # rather now than after the run
        import punctuated.experiments.demo as auction_demo
        from punctuated.experiments.demo_view import JsonView, LinesView, LiveView

        console = Console()
        view = JsonView(sys.stdout) if as_json else LiveView(console) if console.is_terminal else LinesView(console)
        with _files_of(out):
            out.mkdir(parents=True, exist_ok=True)
        if not auction_demo.run(view, out, auctions, batches, spark):
            raise typer.Exit(1)


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the version of punctuated and of what it runs on: paste this into a bug report."""
    versions = {name: _version(name) for name in _VERSIONS_OF} | {"python": platform.python_version()}
    if as_json:
        print_json(versions)
        return
    for name, number in versions.items():
        typer.echo(f"{name} {number}")


@app.command()
def repair(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint of the query.")],
    sink: Annotated[Path, typer.Argument(help="Folder of its file sink.")],
    as_json: AsJson = False,
) -> None:
    """Let a file sink forget a batch that its query has not committed.

    For a query that was killed and fails with "CheckpointInfo length: 0" ever since. It must not be running.
    """
    from punctuated.spark.repair import forget_uncommitted

    forgotten = forget_uncommitted(checkpoint, sink)
    if as_json:
        print_json({"forgotten": forgotten})
    elif forgotten:
        typer.echo(f"{sink} has forgotten batch {', '.join(map(str, forgotten))}: start the query again")
    else:
        typer.echo(f"nothing to repair: {sink} has no batch that {checkpoint} has not committed")


@app.command()
def generate(
    name: Annotated[str, typer.Argument(help="Stream to generate, such as `punct-asc-100-40`, or `auctions`.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write; `auctions` writes two, named after it.")],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of tuples; of auctions for `auctions`.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same rows.")] = 0,
    gap: Annotated[str | None, typer.Option(help="Mean gap between tuples.", show_default="10 ms")] = None,
    punctuations: Annotated[
        Punctuations | None, typer.Option(help="How the stream says that a value is over.", show_default="flag")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a generated stream to a Parquet file.

    The same name, size and seed always give the same rows.
    """
    from punctuated import streams

    if name == "auctions":
        if gap is not None or punctuations is not None:
            raise PunctuatedError(
                "--gap and --punctuations do not apply to auctions: their times and endings are part of the data set"
            )
        opened, bids = streams.auctions(n, seed=seed)
        tables = {_beside(out, "auctions"): opened, _beside(out, "bids"): bids}
    else:
        kind = (punctuations or Punctuations.flag).value
        tables = {out: streams.generate(name, n=n, seed=seed, gap=gap or "10 ms", punctuations=kind)}

    for path, table in tables.items():
        _write_parquet(table, path)
    if as_json:
        print_json({"files": [{"path": str(path), "rows": table.num_rows} for path, table in tables.items()]})
        return
    for path, table in tables.items():
        typer.echo(f"{table.num_rows} rows → {path}")


@experiment_app.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments and the figures or tables they repeat."""
    experiments = _experiments().values()
    if as_json:
        print_json([{"name": e.name, "title": e.title, "paper": e.paper} for e in experiments])
        return
    table = Table("name", "title", "paper")
    for e in experiments:
        table.add_row(Text(e.name), Text(e.title), Text(e.paper))
    Console().print(table)


@experiment_app.command("run")
def run_experiments(
    name: ExperimentName,
    out: ResultsFolder = Path("out/experiments"),
    scale: Annotated[float, typer.Option(help="Size of the input relative to the published experiment.")] = 1.0,
    engine: OnEngine = EngineName.tables,
    as_json: AsJson = False,
) -> None:
    """Run one experiment or all of them, write NAME.json, and check the paper's claims.

    Exit code 1 if a claim does not hold.
    """
    if scale <= 0:
        raise PunctuatedError(f"--scale {scale} leaves no input: give a number above 0")
    chosen, summaries = _chosen(name), []
    with _running(engine, out, quiet=as_json) as runs_on:
        for experiment in chosen:
            result = _run_with_progress(experiment, scale, runs_on, quiet=as_json)
            path = _write_result(result, out / f"{_file_name(experiment, engine)}.json")
            checks = result["checks"]
            summaries.append({"name": experiment.name, "path": str(path), "checks": checks})
            if not as_json:
                _print_checks(experiment, checks, path)
    holds = all(check["holds"] for summary in summaries for check in summary["checks"])
    if as_json:
        print_json({"holds": holds, "experiments": summaries})
    if not holds:
        raise typer.Exit(1)


@experiment_app.command("plot")
def plot_experiments(
    name: ExperimentName,
    out: ResultsFolder = Path("out/experiments"),
    pictures: Annotated[
        Path | None, typer.Option(help="Folder for the pictures.", show_default="that of --out")
    ] = None,
    engine: OnEngine = EngineName.tables,
    as_json: AsJson = False,
) -> None:
    """Draw NAME.png from NAME.json, for one experiment or for all that have been run."""
    folder = pictures or out
    chosen = _chosen(name)
    if name == "all":
        chosen = [each for each in chosen if (out / f"{_file_name(each, engine)}.json").exists()]
        if not chosen:
            raise PunctuatedError(f"no results in {out}: first `{_run_command(name, out, engine)}`")
    drawn = [_plot(experiment, out, folder, engine) for experiment in chosen]
    if as_json:
        print_json({"files": [str(path) for path in drawn]})
        return
    for path in drawn:
        typer.echo(str(path))


def _chosen(name: str) -> "list[Experiment]":
    experiments = _experiments()
    if name == "all":
        return list(experiments.values())
    if name not in experiments:
        raise PunctuatedError(f"no experiment is called {name!r}; known are: {', '.join(experiments)}, or all")
    return [experiments[name]]


def _experiments() -> "Mapping[str, Experiment]":
    with _plot_extra():
        from punctuated.experiments import EXPERIMENTS

        return EXPERIMENTS


def _file_name(experiment: "Experiment", engine: EngineName) -> str:
    return experiment.name if engine is EngineName.tables else f"{experiment.name}_{engine}"


def _run_command(name: str, out: Path, engine: EngineName) -> str:
    command = f"punctuated experiment run {name} --out {out}"
    return command if engine is EngineName.tables else f"{command} --engine {engine}"


@contextmanager
def _running(engine: EngineName, out: Path, *, quiet: bool) -> "Iterator[Engine]":
    """The engine, started; Spark needs some seconds for that, and writes its messages to `spark.log`."""
    from punctuated.experiments.engine import open_engine

    with _files_of(out):
        out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        with Console(stderr=True, quiet=quiet).status(f"starting {engine}"):
            started = stack.enter_context(open_engine(engine, out / "spark.log"))
        yield started


@contextmanager
def _plot_extra() -> Iterator[None]:
    """Names the extra to install when what runs inside misses matplotlib."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise PunctuatedError('pictures need matplotlib: pip install "punctuated[plot]"') from error


@contextmanager
def _files_of(path: Path) -> Iterator[None]:
    """Names the path when what runs inside cannot read or write it."""
    try:
        yield
    except OSError as error:
        raise PunctuatedError(f"cannot use {path}: {error.strerror or error}") from error


def _run_with_progress(experiment: "Experiment", scale: float, engine: "Engine", *, quiet: bool) -> dict[str, Any]:
    if quiet:
        return experiment.run(scale=scale, engine=engine)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(experiment.name, total=1.0)
        return experiment.run(scale=scale, progress=lambda done: bar.update(task, completed=done), engine=engine)


def _print_checks(experiment: "Experiment", checks: Sequence[Mapping[str, Any]], path: Path) -> None:
    table = Table("claim", "holds", "detail", title=Text(f"{experiment.title} ({experiment.paper})"))
    for check in checks:
        holds = Text("yes", style="green") if check["holds"] else Text("no", style="red")
        table.add_row(Text(check["claim"]), holds, Text(check["detail"]))
    Console().print(table)
    typer.echo(str(path))


def _plot(experiment: "Experiment", results: Path, pictures: Path, engine: EngineName) -> Path:
    name = _file_name(experiment, engine)
    picture = pictures / f"{name}.png"
    result = _read_result(results / f"{name}.json", _run_command(experiment.name, results, engine))
    with _files_of(picture), _plot_extra():
        pictures.mkdir(parents=True, exist_ok=True)
        experiment.plot(result, picture)
    return picture


def _read_result(path: Path, command: str) -> dict[str, Any]:
    if not path.exists():
        raise PunctuatedError(f"{path} does not exist: first `{command}`")
    with _files_of(path):
        text = path.read_text(encoding="utf-8")
    try:
        result: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise PunctuatedError(f"{path} is not JSON ({error}): run the experiment again") from error
    return result


def _write_result(result: Mapping[str, Any], path: Path) -> Path:
    with _files_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return path


def _write_parquet(table: "pa.Table", path: Path) -> None:
    import pyarrow.parquet as pq

    with _files_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.stem}_{suffix}.parquet")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
