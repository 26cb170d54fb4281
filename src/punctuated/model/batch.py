"""Batches: what an operator is given at a time. A table is one batch."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.model.punctuation import Punctuation

Positions = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Endings:
    """Single join values that end: key columns and times, in band or announced from outside."""

    keys: pa.Table  # one column per key column, in order
    ts: pa.ChunkedArray
    in_band: bool
    positions: Positions | None = None


@dataclass(frozen=True)
class StreamBatch:
    """One stream's share of a batch: its tuples, and its punctuations other than flags.

    Positions are places in the input. They order punctuations of the same time; without them, endings come first, then
    `punctuations`, then flagged rows, each in their own order.
    """

    rows: pa.Table
    endings: tuple[Endings, ...] = ()
    punctuations: tuple[Punctuation, ...] = ()
    row_positions: Positions | None = None
    punctuation_positions: Positions | None = None
