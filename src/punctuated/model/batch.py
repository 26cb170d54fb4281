"""Batches: what an operator is given at a time. A table is one batch."""

from dataclasses import dataclass

import pyarrow as pa

from punctuated.model.punctuation import Punctuation


@dataclass(frozen=True)
class Endings:
    """Single join values that end: rows of key columns and their times, in band or announced from outside."""

    keys: pa.Table  # one column per key column, in order
    ts: pa.ChunkedArray
    in_band: bool


@dataclass(frozen=True)
class StreamBatch:
    """One stream's share of a batch: its tuples, and its punctuations other than flags.

    `positions` are the places of `punctuations` and of the in-band `endings` among the input's rows, for a fixed order.
    """

    rows: pa.Table
    endings: tuple[Endings, ...] = ()
    punctuations: tuple[Punctuation, ...] = ()
