"""Batches: what an operator is given at a time. A table is one batch."""

from dataclasses import dataclass

import pyarrow as pa

from punctuated.model.punctuation import Punctuation


@dataclass(frozen=True)
class EndedKeys:
    """Single join values that end: key columns and times, in band or announced from outside."""

    keys: pa.Table  # one column per key column, in order
    ts: pa.ChunkedArray
    in_band: bool


@dataclass(frozen=True)
class StreamBatch:
    """One stream's share of a batch: its tuples, and its punctuations other than flags.

    Where a batch is spread over buckets, `tick` says what a bucket must know of the whole (see `join.tick`).
    """

    rows: pa.Table
    endings: tuple[EndedKeys, ...] = ()
    punctuations: tuple[Punctuation, ...] = ()
    tick: pa.Table | None = None
