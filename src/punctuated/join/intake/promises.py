"""Promises over ranges or over attributes outside the key: which tuples of a batch break them.

Objects of a batch are processed in the order of time, so a punctuation takes effect within a batch only before later
times. A tuple therefore breaks it iff its time is later, or the punctuation was in effect before the batch. That needs
no loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.intake.pattern_match import match_columns
from punctuated.model.pattern import Pattern


@dataclass(frozen=True)
class Promise:
    """No tuple of the stream matches these patterns after `ts`."""

    columns: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    ts: int
    order: int = 0  # order of arrival
    touched: int = 0
    announced: bool = False  # it came apart from the stream: in effect only beyond `ts`


def broken(
    promises: Sequence[Promise], fresh: Sequence[Promise], rows: pa.Table, ts: npt.NDArray[np.int64], watermark: int
) -> npt.NDArray[np.bool_]:
    """Rows that break an earlier promise, or one of this batch; `watermark` is the one before the batch."""
    mask = np.zeros(ts.size, np.bool_)
    for known, promise in [*((True, p) for p in promises), *((False, p) for p in fresh)]:
        in_effect = known and watermark >= promise.ts + promise.announced
        suspects = np.ones(ts.size, np.bool_) if in_effect else ts > promise.ts
        if suspects.any():
            mask |= suspects & match_columns(promise.patterns, [rows[name] for name in promise.columns])
    return mask
