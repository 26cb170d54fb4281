"""Records with a key, and what has changed between two sets of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


def changes(before: Records, now: Records) -> tuple[Records, Ints]:
    """Records that are new or different, and the keys of those that are gone; both ascend by their first field."""
    key = now.dtype.names[0] if now.dtype.names is not None else ""
    place = np.searchsorted(before[key], now[key])
    inside = np.minimum(place, max(before.size - 1, 0))
    known = (place < before.size) & (before[key][inside] == now[key]) if before.size else np.zeros(now.size, np.bool_)
    same = known.copy()
    same[known] = before[inside[known]] == now[known]
    gone = np.setdiff1d(before[key], now[key], assume_unique=True)
    return now[~same], gone


def apply(before: Records, changed: Records, gone: Ints) -> Records:
    """The inverse: the records after the changes, ascending by their first field."""
    key = before.dtype.names[0] if before.dtype.names is not None else ""
    replaced = np.concatenate([gone, changed[key]])
    kept = before[~np.isin(before[key], replaced)]
    both = np.concatenate([kept, changed])
    return np.asarray(both[np.argsort(both[key], kind="stable")])
