"""The `punctuated` command: a thin shell that parses, calls one function of the package, and prints.

Invariants: with `--json`, standard output has one JSON value and nothing else (`demo`, `run`: one per line). An error
that the user can fix is one red message on standard error and exit code 2, never a traceback.
"""

import platform
from enum import StrEnum
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from punctuated.cli.calibrate import calibrate_machine
from punctuated.cli.cost import cost_app
from punctuated.cli.output import AsJson, AsJsonLines, ErrorsAsMessages, files_of, plot_extra, print_json
from punctuated.cli.run import run_script
from punctuated.errors import PunctuatedError

if TYPE_CHECKING:
    import pyarrow as pa

_VERSIONS_OF = ("punctuated", "pyspark", "pyarrow", "pandas", "numpy", "numba", "sqlglot")


class GeneratedPunctuations(StrEnum):
    """How a generated stream says that a value is over."""

    flag = "flag"
    rows = "rows"
    none = "none"
    irrelevant = "irrelevant"


app = typer.Typer(
    cls=ErrorsAsMessages,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Stream joins that know when a key is done.",
)
app.add_typer(cost_app, name="cost")
cost_app.command("calibrate")(calibrate_machine)
app.command("run")(run_script)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the plot and the summary.")] = Path("out/demo"),
    auctions: Annotated[int, typer.Option(min=1, help="Number of auctions; each has nine bids on average.")] = 20_000,
    batches: Annotated[int, typer.Option(min=1, help="Number of batches.")] = 40,
    spark: Annotated[bool, typer.Option("--spark/--no-spark", help="Run on a local Spark, or on tables.")] = True,
    as_json: AsJsonLines = False,
) -> None:
    """Run the auction query on a local Spark, with and without punctuations, and compare what has to be remembered."""
    with plot_extra():
        import_module("matplotlib")  # fail now rather than after the run
        from punctuated.cli.demo import demo_view, run

        with files_of(out):
            out.mkdir(parents=True, exist_ok=True)
        if not run(demo_view(as_json), out, auctions, batches, spark):
            raise typer.Exit(1)


@app.command()
def version(as_json: AsJson = False) -> None:
    """Print the versions of punctuated and of what it runs on, for a bug report."""
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
    yes: Annotated[bool, typer.Option("--yes", help="Do it; otherwise it is only shown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a file sink forget the batch during which its query was killed.

    Use this if the query fails with "CheckpointInfo length: 0" since then. The query must not be running. What the sink
    forgets is kept in a folder beside its log.
    """
    from punctuated.spark.state.repair import find_repair

    with files_of(sink):
        found = find_repair(checkpoint, sink)
        if found is not None and yes:
            found.carry_out()
    if as_json:
        found_repair = {} if found is None else {"batch": found.batch, "kept_in": str(found.kept_in)}
        print_json({**found_repair, "done": found is not None and yes})
    elif found is None:
        typer.echo(f"nothing to repair: {sink} has no batch that {checkpoint} has not committed")
    elif yes:
        typer.echo(f"{sink} has forgotten batch {found.batch}, kept in {found.kept_in}: start the query again")
    else:
        typer.echo(
            f"{sink} has batch {found.batch}, which {checkpoint} has begun but not committed. With --yes the sink "
            f"forgets it: {found.entry} goes to {found.kept_in}. Nothing was changed."
        )


@app.command()
def clean(
    path: Annotated[str, typer.Argument(help="Table that write_to has written: pt.parquet(…) or pt.delta(…).")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it; otherwise it is only shown.")] = False,
    stopped: Annotated[bool, typer.Option("--stopped", help="No query writes to the table now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove files that failed attempts have left in a table; no reader sees them.

    A running query is not disturbed. Each file names its micro-batch, and only files of complete batches are removed:
    nobody needs these any more. Files of the batch in progress stay, unless --stopped says that there is none.
    """
    from punctuated.storage.tables.open_table import table_at

    with files_of(Path(path)):
        table = table_at(path)
        found = table.left_over(stopped=stopped)
        if yes:
            table.remove(found)
    if as_json:
        print_json({"files": found, "done": yes})
    elif not found:
        typer.echo(f"nothing to remove: failed attempts have left nothing in {path}")
    else:
        what = f"{len(found)} file{'s' if len(found) > 1 else ''} of failed attempts"
        typer.echo("\n".join(found))
        typer.echo(f"removed {what}" if yes else f"{what}; with --yes they are removed. Nothing was changed.")


@app.command()
def generate(
    name: Annotated[str, typer.Argument(help="Stream to generate, such as `punct-asc-100-40`, or `auctions`.")],
    out: Annotated[Path, typer.Option(help="Parquet file to write; `auctions` writes two, named after it.")],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of tuples; of auctions for `auctions`.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same rows.")] = 0,
    gap: Annotated[str | None, typer.Option(help="Mean gap between tuples.", show_default="10 ms")] = None,
    punctuations: Annotated[
        GeneratedPunctuations | None,
        typer.Option(help="How the stream says that a value is over.", show_default="flag"),
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
        tables = {_with_suffix(out, "auctions"): opened, _with_suffix(out, "bids"): bids}
    else:
        kind = (punctuations or GeneratedPunctuations.flag).value
        tables = {out: streams.generate(name, n=n, seed=seed, gap=gap or "10 ms", punctuations=kind)}

    for path, table in tables.items():
        _write_parquet(table, path)
    if as_json:
        print_json({"files": [{"path": str(path), "rows": table.num_rows} for path, table in tables.items()]})
        return
    for path, table in tables.items():
        typer.echo(f"{table.num_rows} rows → {path}")


def _write_parquet(table: "pa.Table", path: Path) -> None:
    import pyarrow.parquet as pq

    with files_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)


def _with_suffix(path: Path, suffix: str) -> Path:
    if not path.name:
        raise PunctuatedError(f"--out {path} is a folder: give the name of a file, such as {path / 'streams.parquet'}")
    return path.with_name(f"{path.stem}_{suffix}.parquet")


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


if __name__ == "__main__":
    app()
