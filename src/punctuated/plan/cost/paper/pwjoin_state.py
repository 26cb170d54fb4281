"""The memory model of PWJoin, section 5 (PW-45 … PW-51).

It takes a stored tuple to be as likely to carry a value that came long ago as a recent one. Where values come and go
it tends to 0, and the state does not: see the experiments `eq01_state` and `planned_state`. Plans go by
`punctuated.plan.cost.cardinality`.
"""

from punctuated.plan.cost.cardinality import window_state


def purge_probability(punctuation_rate: float, elapsed_s: float, distinct_values: float) -> float:
    """Chance that the other stream has ended a stored tuple's value: `lambda_p * T / NK` (PW-49), within [0, 1]."""
    if distinct_values <= 0:
        return 0.0
    return min(1.0, max(0.0, punctuation_rate * elapsed_s / distinct_values))


def pwjoin_state(
    rate: float, window_s: float, punctuation_rate: float, elapsed_s: float, distinct_values: float
) -> float:
    """Tuples in a state that windows and the other stream's punctuations bound, by the paper: its Eq. (1) (PW-50).

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
