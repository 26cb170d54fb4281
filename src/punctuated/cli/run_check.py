"""What is said of a script before it runs: its plans, warnings, and where it is wrong."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from punctuated.cli.output import print_json_line
from punctuated.cli.run_view import View
from punctuated.sql.parse.errors import SqlError
from punctuated.sql.run.script import CheckedStatement, Script
from punctuated.sql.sources.spark import describe_lane


@contextmanager
def failures_at_their_place(file: Path, view: View) -> Iterator[None]:
    """A mistake in the script is one message, with its place and the line itself, and exit code 2."""
    try:
        yield
    except SqlError as error:
        view.close()
        hint = f"; did you mean {error.nearest!r}?" if error.nearest else ""
        notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
        text = f"{file}:{error.line}:{error.column}: {error.message}{hint}\n{error.position.excerpt()}{notes}"
        Console(stderr=True).print(Text(text, style="red"), soft_wrap=True)
        raise typer.Exit(2) from error
    finally:
        view.close()


def warn(view: View, file: Path, checked: Sequence[CheckedStatement]) -> None:
    """What the check has warned of."""
    for each in checked:
        for text in each.warnings:
            view.say(f"{where(file, each)}: warning: {text}")


def show_plans(script: Script, checked: Sequence[CheckedStatement], as_json: bool) -> None:
    """What each statement would do, and which way the rows of the streams would take on Spark."""
    ways = {each.name: f"{each.source}, {describe_lane(each, script.folder)}" for each in script.created}
    if as_json:
        print_json_line({"event": "streams", "streams": ways})
        for each in checked:
            print_json_line({"event": "plan", "statement": each.kind, **_place(each), **_sink(each), "plan": each.plan})
        return
    for name, way in ways.items():
        typer.echo(f"stream {name}: {way}")
    for each in checked:
        typer.echo(f"\n{where(script.path, each)}: {_heading(each)}\n{each.plan}")
    typer.echo(f"\n{script.path} can run: {counted(len(ways), 'stream')}, {counted(len(checked), 'statement')}")


def where(file: Path, checked: CheckedStatement) -> str:
    """The place of a statement, as editors and terminals know it."""
    return f"{file}:{checked.task.position.line}:{checked.task.position.column}"


def counted(n: int, what: str) -> str:
    """So many of something.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _heading(checked: CheckedStatement) -> str:
    if checked.target is None:
        return checked.kind.upper()
    return f"INSERT INTO {checked.target.shown}\ncheckpoint: {checked.target.checkpoint}"


def _place(checked: CheckedStatement) -> dict[str, int]:
    return {"line": checked.task.position.line, "column": checked.task.position.column}


def _sink(checked: CheckedStatement) -> dict[str, str]:
    target = checked.target
    return {} if target is None else {"sink": target.shown, "checkpoint": str(target.checkpoint)}
