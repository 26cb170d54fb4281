"""How the commands print output for machines, and the progress of a long command."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.")]


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
