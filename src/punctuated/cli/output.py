"""What commands share: options and output for machines, progress bars, and errors that say what a user can fix."""

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
AsJsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON value per line and nothing else.")]


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
    """If the code inside needs matplotlib and it is missing, the error names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise PunctuatedError('pictures need matplotlib: pip install "punctuated[plot]"') from error


@contextmanager
def files_of(path: Path) -> Iterator[None]:
    """If the code inside cannot read or write files, the error names this path."""
    try:
        yield
    except OSError as error:
        raise PunctuatedError(f"cannot use {path}: {error.strerror or error}") from error


# Output


def print_json(value: object) -> None:
    """Print one JSON value."""
    typer.echo(json.dumps(value, indent=2))


def print_json_line(value: object) -> None:
    """Print one of several JSON values, each on a line of its own."""
    typer.echo(json.dumps(value))


@contextmanager
def progress_bar(doing: str, *, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on standard error, gone at the end; call what it yields with the share that is done.

    If `quiet` there is none.
    """
    if quiet:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=1.0)
        yield lambda done: bar.update(task, completed=done)


def counted(n: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"
