"""Errors that a user can fix: they name what is missing, or which path cannot be used."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text
from typer.core import TyperGroup

from punctuated.errors import PunctuatedError

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.")]


class ErrorsAsMessages(TyperGroup):
    """Turns every error of this package into one line and exit code 2, whichever subcommand raised it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except PunctuatedError as error:
            Console(stderr=True).print(Text(f"error: {error}", style="red"), soft_wrap=True)
            raise typer.Exit(2) from error


@contextmanager
def plot_extra() -> Iterator[None]:
    """Names the extra to install if the code inside needs matplotlib and it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise PunctuatedError('pictures need matplotlib: pip install "punctuated[plot]"') from error


@contextmanager
def files_of(path: Path) -> Iterator[None]:
    """Names the path if the code inside cannot read or write it."""
    try:
        yield
    except OSError as error:
        raise PunctuatedError(f"cannot use {path}: {error.strerror or error}") from error


# How the commands print output for machines, and the progress of a long command.


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(value, indent=2))


def print_json_line(value: object) -> None:
    """One of several JSON values on standard output, each on its own line."""
    typer.echo(json.dumps(value))


@contextmanager
def progress_bar(doing: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error that takes the share done so far and disappears at the end; none if `quiet`."""
    if quiet:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=1.0)
        yield lambda done: bar.update(task, completed=done)
