"""Options of a source: texts by name, each with a reader that says which texts it takes."""

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from punctuated.errors import StreamError
from punctuated.model.arguments import LARGEST
from punctuated.model.window import parse_duration
from punctuated.streams.arrival import LARGEST_SIZE
from punctuated.streams.generator import start_us

_MOST_DIGITS = 25  # of any number

Readers = Mapping[str, Callable[[str], Any]]


def read_values(options: Mapping[str, str], readers: Readers) -> dict[str, Any]:
    """The values of the options by the names of their readers; case and underscores in names do not matter."""
    spelled = {plain_name(name): name for name in readers}
    if unknown := [name for name in options if plain_name(name) not in spelled]:
        raise StreamError(f"unknown option {', '.join(unknown)}; known: {', '.join(readers)}")
    texts = {spelled[plain_name(name)]: value for name, value in options.items()}
    return {name: _value(name, text, readers[name]) for name, text in texts.items()}


def plain_name(name: str) -> str:
    """A name without case and underscores."""
    return name.lower().replace("_", "")


def _value(name: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except ValueError as error:
        raise StreamError(f"option {name}={text!r}: {error}") from error


def whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers within bounds."""

    def read(text: str) -> int:
        if not _is_whole(text) or len(text) > _MOST_DIGITS or not least <= int(text) <= most:
            raise ValueError(f"give a whole number between {least} and {most}")
        return int(text)

    return read


def positive(what: str) -> Callable[[str], float]:
    """A reader of numbers above zero."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 < number <= LARGEST_SIZE:
            raise ValueError(f"give a positive number of {what}, {LARGEST_SIZE} at most")
        return number

    return read


def duration(text: str) -> int:
    """A duration, or a number of microseconds."""
    return parse_duration(int(text) if _is_whole(text) and len(text) <= _MOST_DIGITS else text)


def moment(text: str) -> int:
    """A point in time, in microseconds since the epoch."""
    if _is_whole(text):
        return whole(-LARGEST, LARGEST)(text)
    try:
        return start_us(datetime.fromisoformat(text))
    except ValueError:
        raise ValueError("give microseconds since the epoch, or a time such as 2003-11-10T09:03:00") from None


def _is_whole(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()
