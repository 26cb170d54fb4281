"""The arrays of a join of any number of streams: those of every join, how far members may be apart, and a walk."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay
from punctuated.kernels.multiway import layout as many
from punctuated.kernels.multiway.process import tidy_now
from punctuated.model.algorithm import HW, Propagation, Walk
from punctuated.model.reach import farthest
from punctuated.model.spec import JoinSpec
from punctuated.state.arrays import JoinState

_METHODS = {"value": many.BY_VALUE, "scan": many.BY_SCAN, "time": many.BY_TIME, "nothing": many.UNJOINED}
Matrix = npt.NDArray[np.int64]


class MultiwayState(JoinState):
    """What the kernels of `kernels.multiway` work on."""

    def _state(self, fields: dict[str, Any]) -> lay.AnyState:
        return many.MultiState(**fields)

    def _width(self) -> int:
        return max(4, super()._width())  # one machine code less

    def _early_rule(self, spec: JoinSpec, side: int) -> int:
        return lay.BY_WINDOW if spec.algorithm.propagation is Propagation.EARLY else lay.NEVER_EARLY

    def _rules(self, spec: JoinSpec, side: int) -> dict[str, int]:
        rules = super()._rules(spec, side)
        return {**rules, "forget_after": int(_max_gaps(spec)[side].max())}

    def _fields(self, spec: JoinSpec, sides: lay.Records, common: lay.Records) -> dict[str, Any]:
        n = self.n_streams
        walk = walk_of(spec)
        record = np.zeros(1, many.WALK)
        record["method"], record["refines"] = _METHODS[walk.finds], walk.periods != "exact"
        record["cleans_every"] = walk.cleans_every
        return {
            **super()._fields(spec, sides, common),
            "reaches": np.array(spec.reaches, np.int64),
            "max_gaps": _max_gaps(spec),
            "plan": np.array([[other for other in range(n) if other != side] for side in range(n)], np.int32),
            "periods": np.stack([_PERIODS[walk.periods](np.array(reach, np.int64)) for reach in spec.reaches]),
            "low": np.zeros((n, n), np.int64),
            "high": np.zeros((n, n), np.int64),
            "walk": record,
            "steps": np.zeros(n, many.STEP),
        }

    def show_ranges(self, ranges: lay.Records) -> None:
        """Let the kernels see other values under ranges, in records as wide as the machine code is made for."""
        super().show_ranges(ranges if ranges.dtype == self.arrays.ranges.dtype else self._widened(ranges))

    def _widened(self, ranges: lay.Records) -> lay.Records:
        wide = np.zeros(ranges.size, self.arrays.ranges.dtype)
        wide["ts"][:, : ranges["ts"].shape[1]] = ranges["ts"]
        for name in ("low", "high", "flags"):  # what kernels look at
            wide[name] = ranges[name]
        return wide

    def sweep(self) -> None:
        """Let go of tuples that are complete by an ending and a window; others leave in their turn."""
        tidy_now(self.many)

    @property
    def many(self) -> many.MultiState:
        """The arrays, with the type that kernels for many streams take."""
        assert isinstance(self.arrays, many.MultiState)
        return self.arrays


def walk_of(spec: JoinSpec) -> Walk:
    """How results are found: by the index of values, unless the algorithm says otherwise."""
    return spec.algorithm.walk or HW.walk or Walk("value")


def _max_gaps(spec: JoinSpec) -> Matrix:
    """How far later a partner of each side may be, as far as windows forget."""
    far = np.array(farthest(spec.reaches), np.int64)
    if not spec.algorithm.by_window:
        far[~np.eye(len(far), dtype=np.bool_)] = lay.UNBOUNDED
    return far


def _globally(reach: Matrix) -> Matrix:
    """The global window: the widest window of all, for every pair of streams (WJ-26)."""
    return np.full_like(reach, reach.max())


def _locally(reach: Matrix) -> Matrix:
    """The local windows: for every pair of streams, the smaller one of the widest windows that touch either (WJ-27)."""
    local = np.maximum(reach.max(axis=0), reach.max(axis=1))
    return np.asarray(np.minimum(local[:, np.newaxis], local))


def _everything(reach: Matrix) -> Matrix:
    return np.full_like(reach, lay.UNBOUNDED)


_PERIODS: dict[str, Callable[[Matrix], Matrix]] = {
    "exact": lambda reach: reach,
    "global": _globally,
    "local": _locally,
    "none": _everything,
}
