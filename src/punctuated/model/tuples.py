"""A tuple of a stream as plain values, for the oracle and for tests; the operators work on arrays."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """The values of one tuple, in the order of the stream's columns; its time is an integer in microseconds."""

    values: tuple[Any, ...]
