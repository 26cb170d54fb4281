"""Eq. (1) of the PWJoin paper at any moment of two generated streams, from what they have brought by then (PW-50)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.experiments.trial import SECOND_US, times_us

_Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class _Brought:
    """A stream's tuples, distinct values and punctuations, counted along its times."""

    ts: _Counts
    distinct: _Counts
    punctuations: _Counts

    def before(self, now_us: int) -> tuple[int, int, int]:
        """How many of each have come."""
        n = int(np.searchsorted(self.ts, now_us))
        return n, int(self.distinct[n]), int(self.punctuations[n])


def _brought(table: pa.Table) -> _Brought:
    is_new = np.zeros(len(table), np.bool_)
    is_new[np.unique(table["key"].to_numpy(), return_index=True)[1]] = True
    distinct, punctuations = (np.concatenate([[0], np.cumsum(flags)]) for flags in (is_new, table["last"].to_numpy()))
    return _Brought(times_us(table), distinct, punctuations)


def predicted_states(
    ours: pa.Table, other: pa.Table, start_us: int, seconds: Iterable[float], window_s: float
) -> list[float]:
    """The state of a stream, so many seconds after the start; until the window is full, it is as long as the run."""
    ours_brought, other_brought = _brought(ours), _brought(other)
    predicted = []
    for elapsed_s in seconds:
        now = start_us + round(elapsed_s * SECOND_US)
        tuples, distinct, _ = ours_brought.before(now)
        punctuations = other_brought.before(now)[2]
        predicted.append(
            pt.cost.pwjoin_state(
                rate=tuples / elapsed_s,
                window_s=min(window_s, elapsed_s),
                punctuation_rate=punctuations / elapsed_s,
                elapsed_s=elapsed_s,
                distinct_values=distinct,
            )
        )
    return predicted
