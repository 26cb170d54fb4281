"""Batches: what an operator gets at a time. A table is one batch."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.model.punctuation import Punctuation


@dataclass(frozen=True)
class EndedKeys:
    """Single join values that end: key columns and times, in band or announced from outside."""

    keys: pa.Table  # one column per key column, in order
    ts: pa.ChunkedArray  # 64-bit microseconds, none missing
    in_band: bool
    of_rows: bool = False  # they come from rows that are not tuples: their times count like those of tuples


@dataclass(frozen=True)
class StreamBatch:
    """One stream's share of a batch: its tuples, and its punctuations other than flags.

    Where a batch is spread over buckets, `tick` says what a bucket must know of the whole (see `join.tick`).
    """

    rows: pa.Table
    endings: tuple[EndedKeys, ...] = ()
    punctuations: tuple[Punctuation, ...] = ()
    passed: npt.NDArray[np.int64] | None = None  # times of rows that are not tuples and end nothing
    tick: pa.Table | None = None
