"""Eq. (1), the model of state in section 5 of the PWJoin paper (PW-45 … PW-51), and its value along two streams.

It takes a stored tuple to be as likely to carry a value that came long ago as a recent one. Where values come and go
it tends to 0, and the state does not: see the experiments `eq01_state` and `planned_state`. The product's plans go by
`punctuated.plan.cost.waits` instead.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from papers.lab.trial import SECOND_US, times_us
from punctuated.plan.cost import window_state

_Counts = np.ndarray[Any, np.dtype[np.int64]]


def purge_probability(punctuation_rate: float, elapsed_s: float, distinct_values: float) -> float:
    """Chance that the other stream has ended a stored tuple's value: `lambda_p * T / NK` (PW-49), within [0, 1]."""
    if distinct_values <= 0:
        return 0.0
    return min(1.0, max(0.0, punctuation_rate * elapsed_s / distinct_values))


def pwjoin_state(
    rate: float, window_s: float, punctuation_rate: float, elapsed_s: float, distinct_values: float
) -> float:
    """Tuples in a state that windows and the other stream's punctuations bound: Eq. (1) (PW-50).

    Args:
        rate: Tuples per second of this stream.
        window_s: Its window, in seconds.
        punctuation_rate: Punctuations per second of the other stream.
        elapsed_s: Seconds since the start.
        distinct_values: Distinct join values that this stream has brought so far.

    Example:
        >>> pwjoin_state(rate=100, window_s=15, punctuation_rate=1, elapsed_s=100, distinct_values=150)
        500.0
    """
    purged = purge_probability(punctuation_rate, elapsed_s, distinct_values)
    return round(window_state(rate, window_s) * (1 - purged), 6)


@dataclass(frozen=True)
class _Arrivals:
    """The times of a stream's tuples, and how many distinct values and punctuations have come along them."""

    ts: _Counts
    distinct: _Counts
    punctuations: _Counts

    @staticmethod
    def of(table: pa.Table) -> "_Arrivals":
        is_new = np.zeros(len(table), np.bool_)
        is_new[np.unique(table["key"].to_numpy(), return_index=True)[1]] = True
        counted = (np.concatenate([[0], np.cumsum(flags)]) for flags in (is_new, table["last"].to_numpy()))
        return _Arrivals(times_us(table), *counted)

    def before(self, now_us: int) -> tuple[int, int, int]:
        """How many tuples, distinct values and punctuations have come."""
        n = int(np.searchsorted(self.ts, now_us))
        return n, int(self.distinct[n]), int(self.punctuations[n])


def predicted_states(
    ours: pa.Table, other: pa.Table, start_us: int, seconds: Iterable[float], window_s: float
) -> list[float]:
    """Eq. (1) for our stream at each of these seconds after the start; no window is longer than the run so far."""
    our_arrivals, other_arrivals = _Arrivals.of(ours), _Arrivals.of(other)
    predicted = []
    for elapsed_s in seconds:
        now = start_us + round(elapsed_s * SECOND_US)
        tuples, distinct, _ = our_arrivals.before(now)
        punctuations = other_arrivals.before(now)[2]
        predicted.append(
            pwjoin_state(
                rate=tuples / elapsed_s,
                window_s=min(window_s, elapsed_s),
                punctuation_rate=punctuations / elapsed_s,
                elapsed_s=elapsed_s,
                distinct_values=distinct,
            )
        )
    return predicted
