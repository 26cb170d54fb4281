"""`python -m papers`: runs the published experiments, judges their claims, and draws their figures.

Invariants: with `--json`, standard output has one JSON value and nothing else. An error that the user can fix is one
red message on standard error and exit code 2, never a traceback. Exit code 1 means that a claim does not hold.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from papers import experiments
from papers.lab import engine as engines
from papers.lab.engine import Engine
from papers.lab.experiment import Experiment
from papers.lab.progress import silent
from punctuated.cli.output import AsJson, ErrorsAsMessages, files_of, plot_extra, print_json, progress_bar
from punctuated.errors import PunctuatedError

_LARGEST_SCALE = 1_000


class EngineName(StrEnum):
    """What runs the joins of an experiment."""

    tables = "tables"
    spark = "spark"


app = typer.Typer(
    cls=ErrorsAsMessages,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Rerun the published experiments, judge their claims and draw their figures.",
)

ResultsFolder = Annotated[Path, typer.Option("--out", help="Folder of the results, one JSON file per experiment.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME…|all", help="See `python -m papers list`.")]
OnEngine = Annotated[
    EngineName, typer.Option("--engine", help="What runs the joins; results on Spark are called NAME_spark.")
]


@app.command("list")
def list_experiments(as_json: AsJson = False) -> None:
    """List the experiments, the figures or tables they repeat, and the engines they run on."""
    known = experiments.EXPERIMENTS.values()
    if as_json:
        print_json([{"name": e.name, "title": e.title, "paper": e.paper, "engines": list(e.engines)} for e in known])
        return
    table = Table("name", "title", "paper", "engines")
    for e in known:
        table.add_row(Text(e.name), Text(e.title), Text(e.paper), Text(", ".join(e.engines)))
    Console().print(table)


@app.command("run")
def run_experiments(
    names: Names,
    out: ResultsFolder = Path("out/experiments"),
    scale: Annotated[float, typer.Option(help="Size of the input relative to the published experiment.")] = 1.0,
    engine: OnEngine = EngineName.tables,
    as_json: AsJson = False,
) -> None:
    """Run experiments, or all that the engine can run, write NAME.json with measurements and claims.

    Exit code 1 if a claim does not hold.
    """
    if not 0 < scale <= _LARGEST_SCALE:
        raise PunctuatedError(f"--scale {scale}: give a number above 0 and up to {_LARGEST_SCALE:,}")
    chosen, left_out = _chosen(names, engine)
    if left_out and not as_json:
        typer.echo(f"left out, because they do not run on {engine}: {', '.join(left_out)}", err=True)
    summaries = []
    with _running(engine, out, quiet=as_json) as runs_on:
        for experiment in chosen:
            with progress_bar(experiment.name, quiet=as_json) as progress:
                result = experiment.run(scale, progress or silent, runs_on)
            path = _write_result(result, out / f"{_file_name(experiment, engine)}.json")
            summaries.append({"name": experiment.name, "path": str(path), "claims": result["claims"]})
            if not as_json:
                _print_claims(experiment, result["claims"], path)
    holds = all(claim["holds"] for summary in summaries for claim in summary["claims"])
    if as_json:
        print_json({"holds": holds, "experiments": summaries, "left_out": left_out})
    if not holds:
        raise typer.Exit(1)


@app.command("plot")
def plot_experiments(
    names: Names,
    out: ResultsFolder = Path("out/experiments"),
    pictures: Annotated[
        Path | None, typer.Option(help="Folder for the pictures.", show_default="that of --out")
    ] = None,
    engine: OnEngine = EngineName.tables,
    as_json: AsJson = False,
) -> None:
    """Draw NAME.png from NAME.json, for some experiments or for all that have been run."""
    folder = pictures or out
    chosen, _ = _chosen(names, engine)
    if names == ["all"]:
        chosen = [each for each in chosen if (out / f"{_file_name(each, engine)}.json").exists()]
        if not chosen:
            raise PunctuatedError(f"no results in {out}: first run `{_run_command('all', out, engine)}`")
    drawn = [_plot(experiment, out, folder, engine) for experiment in chosen]
    if as_json:
        print_json({"files": [str(path) for path in drawn]})
        return
    for path in drawn:
        typer.echo(str(path))


def _chosen(names: Sequence[str], engine: EngineName) -> tuple[list[Experiment], list[str]]:
    """The experiments to run, and the names of those that are left out because the engine cannot run them."""
    known = experiments.EXPERIMENTS
    if names == ["all"]:
        chosen = [each for each in known.values() if engine in each.engines]
        return chosen, [each.name for each in known.values() if each not in chosen]
    for name in names:
        if name not in known:
            raise PunctuatedError(f"no experiment is called {name!r}; known: {', '.join(known)}, or all")
        known[name].demand_engine(engine)
    return [known[name] for name in dict.fromkeys(names)], []


def _file_name(experiment: Experiment, engine: EngineName) -> str:
    return experiment.name if engine is EngineName.tables else f"{experiment.name}_{engine}"


def _run_command(name: str, out: Path, engine: EngineName) -> str:
    command = f"python -m papers run {name} --out {out}"
    return command if engine is EngineName.tables else f"{command} --engine {engine}"


@contextmanager
def _running(engine: EngineName, out: Path, *, quiet: bool) -> Iterator[Engine]:
    """The engine, started; Spark needs some seconds for that, and writes its messages to `spark.log`."""
    with files_of(out):
        out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        with Console(stderr=True, quiet=quiet).status(f"starting {engine}"):
            started = stack.enter_context(engines.open_engine(engine, out / "spark.log"))
        yield started


def _print_claims(experiment: Experiment, claims: Sequence[Mapping[str, Any]], path: Path) -> None:
    table = Table("claim", "the paper", "found", "holds", title=Text(f"{experiment.title} ({experiment.paper})"))
    for claim in claims:
        holds = Text("yes", style="green") if claim["holds"] else Text("no", style="red")
        table.add_row(Text(claim["claim"]), Text(claim["report"]), Text(claim["found"]), holds)
    Console().print(table)
    typer.echo(str(path))


def _plot(experiment: Experiment, results: Path, pictures: Path, engine: EngineName) -> Path:
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
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return path
