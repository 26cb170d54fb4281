"""What is shown of a script before it runs: its plans, its warnings, and its errors with their positions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from punctuated.cli.output import counted, print_json_line
from punctuated.cli.view import ProgressView
from punctuated.sql.parse.errors import SqlError
from punctuated.sql.run.script import CheckedStatement, Script
from punctuated.sql.sources.spark import describe_lane


@contextmanager
def sql_errors(file: Path, view: ProgressView) -> Iterator[None]:
    """If the script is wrong, print one message with the position and the line itself; the exit code is 2."""
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


def show_warnings(view: ProgressView, file: Path, checked: Sequence[CheckedStatement]) -> None:
    """Show the warnings of the check."""
    for each in checked:
        for text in each.warnings:
            view.say(f"{file_position(file, each)}: warning: {text}")


def show_plan(view: ProgressView, script: Script, checked: CheckedStatement, plan: str) -> None:
    """Show the plan that an EXPLAIN asks for."""
    heading = f"{file_position(script.path, checked)}: EXPLAIN"
    view.report((plan, ""), "plan", heading, statement=heading, plan=plan)


def show_plans(script: Script, checked: Sequence[CheckedStatement], as_json: bool) -> None:
    """Show the plan of each statement, and how each stream would be read on Spark."""
    lanes = {each.name: f"{each.source}, {describe_lane(each, script.folder)}" for each in script.created}
    if as_json:
        print_json_line({"event": "streams", "streams": lanes})
        for each in checked:
            print_json_line(
                {"event": "plan", "statement": each.kind, **_position(each), **_sink(each), "plan": each.plan}
            )
        return
    for name, lane in lanes.items():
        typer.echo(f"stream {name}: {lane}")
    for each in checked:
        typer.echo(f"\n{file_position(script.path, each)}: {_heading(each)}\n{each.plan}")
    typer.echo(f"\n{script.path} can run: {counted(len(lanes), 'stream')}, {counted(len(checked), 'statement')}")


def file_position(file: Path, checked: CheckedStatement) -> str:
    """The position of a statement as FILE:LINE:COLUMN, which editors and terminals can open."""
    return f"{file}:{checked.task.position.line}:{checked.task.position.column}"


def _heading(checked: CheckedStatement) -> str:
    if checked.target is None:
        return checked.kind.upper()
    return f"INSERT INTO {checked.target.shown}\ncheckpoint: {checked.target.checkpoint}"


def _position(checked: CheckedStatement) -> dict[str, int]:
    return {"line": checked.task.position.line, "column": checked.task.position.column}


def _sink(checked: CheckedStatement) -> dict[str, str]:
    target = checked.target
    return {} if target is None else {"sink": target.shown, "checkpoint": str(target.checkpoint)}
