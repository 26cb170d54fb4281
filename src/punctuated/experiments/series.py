"""Series: counters of a join at moments of event time, as lists that survive JSON; `seconds` are the moments."""

from collections.abc import Iterable, Mapping

import numpy as np

Series = dict[str, list[float]]


def with_sum(series: Series) -> Series:
    """The series with `state`, the tuples of both sides; what they are, `Engine.state_name` says."""
    both = zip(series["state_left"], series["state_right"], strict=True)
    return series | {"state": [left + right for left, right in both]}


def only(series: Mapping[str, list[float]], columns: Iterable[str]) -> Series:
    """The moments and these counters."""
    return {name: series[name] for name in ("seconds", *columns)}


def mean_after(series: Series, name: str, seconds: float) -> float:
    """The mean of a counter over the samples from this time on; 0 if the run was shorter."""
    values = [value for at, value in zip(series["seconds"], series[name], strict=True) if at >= seconds]
    return float(np.mean(values)) if values else 0.0
