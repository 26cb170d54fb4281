"""The bounded memory of punctuations (XD-12): what is remembered of ended values, and what is forgotten first.

Values that are over in the output leave the I-Nodes for runs of consecutive codes. Entries beyond the cap are forgotten
at the end of a batch; that never changes the results of streams that keep their promises.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels import layout as lay
from punctuated.kernels.neighbours import are_neighbours
from punctuated.model.bucket import BucketPlace

Ints = npt.NDArray[np.int64]
_FIELDS = ("low", "high", "flags", "touched")
_RUN = np.dtype([(name, "i8") for name in _FIELDS])


@dataclass(frozen=True)
class Runs:
    """Disjoint ascending runs of finished codes; codes of one run were ended by the same streams."""

    low: Ints
    high: Ints
    flags: Ints
    touched: Ints

    @staticmethod
    def none() -> "Runs":
        nothing = np.empty(0, np.int64)
        return Runs(nothing, nothing, nothing, nothing)

    def __len__(self) -> int:
        return int(self.low.size)

    def records(self) -> lay.Records:
        """In the form that the kernels look up."""
        records = np.zeros(len(self), lay.RUN)
        records["low"], records["high"], records["flags"] = self.low, self.high, self.flags
        return records

    def select(self, which: npt.NDArray[np.bool_] | Ints) -> "Runs":
        return Runs(self.low[which], self.high[which], self.flags[which], self.touched[which])

    def without(self, codes: Ints) -> "Runs":
        """The same runs with these ascending codes cut out."""
        place = np.searchsorted(self.low, codes, side="right") - 1
        inside = place >= 0
        inside[inside] = codes[inside] <= self.high[place[inside]]
        if not inside.any():
            return self
        cuts, owner = codes[inside], place[inside]
        low = _merged(self.low, cuts + 1)
        high = _merged(self.high, cuts - 1)
        source = _merged(np.arange(len(self)), owner)
        kept = low <= high
        return Runs(low[kept], high[kept], self.flags[source][kept], self.touched[source][kept])

    def joined(self, other: "Runs", place: BucketPlace | None) -> "Runs":
        """Both together; neighbours of equal standing become one run if codes are numbers.

        Neighbours have no number of this bucket between them; those of other buckets never come here.
        """
        low, high = np.concatenate([self.low, other.low]), np.concatenate([self.high, other.high])
        order = np.argsort(low, kind="stable")
        low, high = low[order], high[order]
        flags = np.concatenate([self.flags, other.flags])[order]
        touched = np.concatenate([self.touched, other.touched])[order]
        if place is None or low.size < 2:
            return Runs(low, high, flags, touched)
        is_new = order >= len(self)
        neighbours = are_neighbours(low, high, is_new, place.number, place.n) & (flags[1:] == flags[:-1])
        starts = np.flatnonzero(np.r_[True, ~neighbours])
        ends = np.r_[starts[1:] - 1, low.size - 1]
        return Runs(low[starts], high[ends], flags[starts], np.maximum.reduceat(touched, starts))


def _merged(one: Ints, two: Ints) -> Ints:
    """Two ascending arrays as one; a stable sort sees the two runs and merges them in linear time."""
    return np.sort(np.concatenate([one, two]), kind="stable")


def named_by(flags: Ints) -> Ints:
    """Masks of the sides that have ended values by name, rather than by a range or in what is remembered as a run."""
    return flags & lay.ENDED_ANY & ~(flags // lay.RECALLED)


class PunctuationMemory:
    """Collects finished values from the I-Nodes, and forgets the oldest entries beyond a cap."""

    def __init__(self, cap: int, place: BucketPlace | None) -> None:
        """`place` is the bucket, if its codes are numbers; codes of other kinds have no neighbours."""
        self._cap, self._place = cap, place
        self.runs = Runs.none()
        self.forgotten = 0

    def archive(self, state: JoinState) -> None:
        """Move values that are over in the output from the I-Nodes to runs."""
        common, arrays = state.common[0], state.arrays
        done = np.unique(arrays.done[: int(common["n_done"])])
        finished = arrays.values["flags"][done] & (lay.OUT | lay.OUT_RECALLED) == lay.OUT
        done = done[finished]  # the others were forgotten meanwhile
        flags = arrays.values["flags"][done]
        # A side's ending that is still pending has a timer and a time of its own: such values stay where they are.
        settled = (flags & lay.ENDED_ANY) * lay.EFFECT == flags & lay.EFFECT_ANY
        self.runs = self.runs.without(np.sort(arrays.values["code"][done]))
        waiting, done, flags = done[~settled], done[settled], flags[settled]
        arrays.done[: waiting.size] = waiting
        common["n_done"] = waiting.size
        if not done.size:
            return
        codes = arrays.values["code"][done]
        order = np.argsort(codes)
        named = named_by(flags)  # what ranges say is remembered with the ranges
        kept = named * (lay.ENDED | lay.EFFECT) | lay.OUT
        fresh = Runs(codes[order], codes[order], kept[order], arrays.endings["touched"][done][order])
        self.runs = self.runs.joined(fresh, self._place)
        arrays.values["flags"][done] |= lay.ARCHIVED | lay.OUT_RECALLED | (flags & lay.ENDED_ANY) * lay.RECALLED

    def fits(self, state: JoinState, n_others: int) -> bool:
        """Whether it is certain that there are not too many entries, so many of them kept elsewhere."""
        return state.n_values + len(self.runs) + n_others <= self._cap

    def enforce(self, state: JoinState, others: Sequence[int]) -> set[int]:
        """Forget the least recently touched entries beyond the cap.

        `others` are the ages of entries kept elsewhere; returns the positions among them of those to be forgotten.
        """
        n_values = state.n_values
        flags = state.arrays.values["flags"][:n_values]
        waiting = np.flatnonzero(named_by(flags))
        ages = [state.arrays.endings["touched"][waiting], self.runs.touched, np.array(others, np.int64)]
        codes = [state.arrays.values["code"][waiting], self.runs.low, np.arange(len(others))]
        is_other = np.repeat([0, 0, 1], [array.size for array in ages])
        surplus = is_other.size - self._cap
        if surplus <= 0:
            return set()
        oldest = _smallest(np.concatenate(ages), is_other, np.concatenate(codes), surplus)
        self.forgotten += surplus
        n_waiting, n_runs = waiting.size, len(self.runs)
        self._forget_values(state, waiting[oldest[oldest < n_waiting]])
        gone = oldest[(oldest >= n_waiting) & (oldest < n_waiting + n_runs)] - n_waiting
        self._forget_runs(state, gone)
        return set((oldest[oldest >= n_waiting + n_runs] - n_waiting - n_runs).tolist())

    def _forget_values(self, state: JoinState, indices: Ints) -> None:
        finished = state.arrays.values["flags"][indices] & lay.OUT != 0
        state.arrays.values["flags"][indices] &= lay.OPEN_ANY
        state.arrays.endings["last_ts"][indices[finished]] = lay.NEVER

    def _forget_runs(self, state: JoinState, which: Ints) -> None:
        gone = self.runs.select(np.sort(which))
        self.runs = self.runs.select(np.setdiff1d(np.arange(len(self.runs)), which))
        n_values = state.n_values
        codes = state.arrays.values["code"][:n_values]
        place = np.searchsorted(gone.low, codes, side="right") - 1
        hit = (place >= 0) & (codes <= gone.high[np.maximum(place, 0)]) if len(gone) else np.zeros(n_values, np.bool_)
        affected = np.flatnonzero(hit & (state.arrays.values["flags"][:n_values] & lay.ARCHIVED != 0))
        state.arrays.values["flags"][affected] &= lay.OPEN_ANY
        state.arrays.endings["last_ts"][affected] = lay.NEVER

    def renumber(self, moved: Ints) -> None:
        """Codes have changed; runs of numbered keys hold one code each."""
        low = moved[self.runs.low]
        order = np.argsort(low)
        self.runs = Runs(low[order], low[order], self.runs.flags[order], self.runs.touched[order])

    def save(self) -> Content:
        """The runs, and how many entries were forgotten."""
        runs = np.empty(len(self.runs), _RUN)
        for name in _FIELDS:
            runs[name] = getattr(self.runs, name)
        return Content({"forgotten": to_json(self.forgotten)}, {"runs": runs})

    def load(self, saved: Loaded) -> None:
        """Go on from `save`."""
        self.runs = Runs(*(saved.records["runs"][name].copy() for name in _FIELDS))
        self.forgotten = from_json(saved.plain["forgotten"])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.runs.low, self.runs.high, self.runs.flags, self.runs.touched))


def _smallest(ages: Ints, is_other: Ints, codes: Ints, n: int) -> Ints:
    """Positions of the `n` smallest by age, then kind, then code; only those that may be among them are sorted."""
    candidates = np.flatnonzero(ages <= np.partition(ages, n - 1)[n - 1])
    order = np.lexsort((codes[candidates], is_other[candidates], ages[candidates]))
    return candidates[order[:n]]
