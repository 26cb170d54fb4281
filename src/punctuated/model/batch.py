"""Batches, which are what an operator gets at a time, and the bucket of a join that gets them. A table is one batch."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.model.punctuation import Punctuation


@dataclass(frozen=True)
class EndedKeys:
    """Single join values that end: their key columns and times, in band or announced from outside."""

    keys: pa.Table  # one column per key column, in order
    ts: pa.ChunkedArray  # 64-bit microseconds, none missing
    in_band: bool
    of_rows: bool = False  # they come from rows that are not tuples: their times count like those of tuples


@dataclass(frozen=True)
class StreamBatch:
    """One stream's part of a batch: its tuples, and its punctuations other than flags.

    Where a batch is spread over buckets, `tick` says what a bucket must know of the whole (see `intake.watermarks`).
    """

    rows: pa.Table
    endings: tuple[EndedKeys, ...] = ()
    punctuations: tuple[Punctuation, ...] = ()
    passed: npt.NDArray[np.int64] | None = None  # times of rows that are not tuples and end nothing
    tick: pa.Table | None = None


# Buckets


@dataclass(frozen=True)
class BucketId:
    """Which part of a join's keys a driver has: bucket `number` of `n`.

    Of these, `at_once` are processed at a time while the others rest; `None` means all.
    """

    number: int = 0
    n: int = 1
    at_once: int | None = None

    @property
    def is_primary(self) -> bool:
        """Whether this is the one bucket that writes what is the same in all of them."""
        return self.number == 0

    def __str__(self) -> str:
        return f"bucket {self.number} of {self.n}" if self.n > 1 else "the join"


# Tuples as plain values, for the oracle and for tests: operators work on arrays


@dataclass(frozen=True, slots=True)
class Row:
    """The values of one tuple, in the order of the stream's columns; its time is an integer in microseconds."""

    values: tuple[Any, ...]
