"""`punctuated experiment`: runs the published experiments, checks their claims, and draws their figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from punctuated.cli.output import AsJson, files_of, plot_extra, print_json, progress_bar
from punctuated.errors import PunctuatedError

_LARGEST_SCALE = 1_000

if TYPE_CHECKING:
    from punctuated.experiments import Experiment
    from punctuated.experiments.engine import Engine


class EngineName(StrEnum):
    """What runs the joins of an experiment."""

    tables = "tables"
    spark = "spark"


experiment_app = typer.Typer(no_args_is_help=True, help="Rerun the published experiments and draw their figures.")

ResultsFolder = Annotated[Path, typer.Option("--out", help="Folder of the results, one JSON file per experiment.")]
ExperimentName = Annotated[str, typer.Argument(metavar="NAME|all", help="See `punctuated experiment list`.")]
OnEngine = Annotated[
    EngineName, typer.Option("--engine", help="What runs the joins; results on Spark are called NAME_spark.")
]


@experiment_app.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments, the figures or tables they repeat, and the engines they run on."""
    experiments = _experiments().values()
    if as_json:
        print_json(
            [{"name": e.name, "title": e.title, "paper": e.paper, "engines": list(e.engines)} for e in experiments]
        )
        return
    table = Table("name", "title", "paper", "engines")
    for e in experiments:
        table.add_row(Text(e.name), Text(e.title), Text(e.paper), Text(", ".join(e.engines)))
    Console().print(table)


@experiment_app.command("run")
def run_experiments(
    name: ExperimentName,
    out: ResultsFolder = Path("out/experiments"),
    scale: Annotated[float, typer.Option(help="Size of the input relative to the published experiment.")] = 1.0,
    engine: OnEngine = EngineName.tables,
    as_json: AsJson = False,
) -> None:
    """Run one experiment, or all that the engine can run, write NAME.json, and check the paper's claims.

    Exit code 1 if a claim does not hold.
    """
    if not 0 < scale <= _LARGEST_SCALE:
        raise PunctuatedError(f"--scale {scale}: give a number above 0 and up to {_LARGEST_SCALE:,}")
    chosen, left_out = _chosen(name, engine)
    if left_out and not as_json:
        typer.echo(f"left out, because they do not run on {engine}: {', '.join(left_out)}", err=True)
    summaries = []
    with _running(engine, out, quiet=as_json) as runs_on:
        for experiment in chosen:
            with progress_bar(experiment.name, quiet=as_json) as progress:
                result = experiment.run(scale, progress, runs_on)
            path = _write_result(result, out / f"{_file_name(experiment, engine)}.json")
            checks = result["checks"]
            summaries.append({"name": experiment.name, "path": str(path), "checks": checks})
            if not as_json:
                _print_checks(experiment, checks, path)
    holds = all(check["holds"] for summary in summaries for check in summary["checks"])
    if as_json:
        print_json({"holds": holds, "experiments": summaries, "left_out": left_out})
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
    chosen, _ = _chosen(name, engine)
    if name == "all":
        chosen = [each for each in chosen if (out / f"{_file_name(each, engine)}.json").exists()]
        if not chosen:
            raise PunctuatedError(f"no results in {out}: first run `{_run_command(name, out, engine)}`")
    drawn = [_plot(experiment, out, folder, engine) for experiment in chosen]
    if as_json:
        print_json({"files": [str(path) for path in drawn]})
        return
    for path in drawn:
        typer.echo(str(path))


def _chosen(name: str, engine: EngineName) -> "tuple[list[Experiment], list[str]]":
    """The experiments to run, and the names of those that are left out because the engine cannot run them."""
    experiments = _experiments()
    if name == "all":
        chosen = [each for each in experiments.values() if engine in each.engines]
        return chosen, [each.name for each in experiments.values() if each not in chosen]
    if name not in experiments:
        raise PunctuatedError(f"no experiment is called {name!r}; known: {', '.join(experiments)}, or all")
    experiments[name].demand_engine(engine)
    return [experiments[name]], []


def _experiments() -> "Mapping[str, Experiment]":
    with plot_extra():
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

    with files_of(out):
        out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        with Console(stderr=True, quiet=quiet).status(f"starting {engine}"):
            started = stack.enter_context(open_engine(engine, out / "spark.log"))
        yield started


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
    with files_of(picture), plot_extra():
        pictures.mkdir(parents=True, exist_ok=True)
        experiment.plot(result, picture)
    return picture


def _read_result(path: Path, command: str) -> dict[str, Any]:
    if not path.exists():
        raise PunctuatedError(f"{path} does not exist: first run `{command}`")
    with files_of(path):
        text = path.read_text(encoding="utf-8")
    try:
        result: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise PunctuatedError(f"{path} is not JSON ({error}): run the experiment again") from error
    return result


def _write_result(result: Mapping[str, Any], path: Path) -> Path:
    with files_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return path
