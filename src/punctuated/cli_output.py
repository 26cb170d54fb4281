"""How the commands print what machines read."""

import json
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value and nothing else.")]


def print_json(value: object) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(value, indent=2))
