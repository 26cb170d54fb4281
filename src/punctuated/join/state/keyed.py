"""Records with an integer key first, made of whole words, and what has changed between two sets of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from punctuated.kernels.differences import apply_keyed, compare_keyed

Records = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


def changes(before: Records, now: Records) -> tuple[Records, Ints]:
    """Records that are new or different, and the keys of those that are gone; both ascend by their first field."""
    fresh, gone = compare_keyed(_as_integers(before), _as_integers(now))
    return now[fresh], _as_integers(before)[gone, 0]


def _as_integers(records: Records) -> Ints:
    return np.ascontiguousarray(records).view(np.int64).reshape(records.size, records.itemsize // 8)


def apply(before: Records, changed: Records, gone: Ints) -> Records:
    """The inverse: the records after the changes, ascending by their first field."""
    now = apply_keyed(_as_integers(before), _as_integers(changed), gone)
    return now.reshape(-1).view(before.dtype)
