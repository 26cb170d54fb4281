"""Errors that a user can fix: they name what is missing, or which path cannot be used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from punctuated.errors import PunctuatedError


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
