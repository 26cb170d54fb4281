"""The bounded memory of punctuations (XD-12): what is remembered of ended values, and what is forgotten first.

Values that are over in the output leave the I-Nodes for runs of consecutive codes. Entries beyond the cap are forgotten
at the end of a batch; that never changes the results of streams that keep their promises.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from punctuated.arrow.ipc import from_json, to_json
from punctuated.kernels import layout as lay
from punctuated.kernels.archive import archive_values
from punctuated.model.batch import BucketId
from punctuated.snapshot.parts import Content, Loaded
from punctuated.state.arrays import JoinState

Ints = npt.NDArray[np.int64]
_SLACK = 9 / 8  # room per run in a batch that adds to them again and again: new memory takes longer than to fill it


def named_by(flags: Ints) -> Ints:
    """Masks of the sides that have ended values by name, rather than by a range or in what is remembered as a run."""
    return flags & lay.ENDED_ANY & ~(flags // lay.RECALLED)


class PunctuationMemory:
    """Collects finished values from the I-Nodes, and forgets the oldest entries beyond a cap."""

    def __init__(self, cap: int, place: BucketId | None) -> None:
        """`place` is the bucket, if its codes are numbers; codes of other kinds have no neighbours."""
        self._cap, self._place = cap, (0, 0) if place is None else (place.number, place.n)
        self.runs = np.empty(0, lay.FINISHED)
        self._whole = self._spare = self.runs  # of a batch: the array that begins with the runs, and the one before
        self.forgotten = 0

    def archive(self, state: JoinState) -> None:
        """Move values that are over in the output from the I-Nodes to runs."""
        arrays, runs = state.arrays, self.runs
        done = arrays.done[: int(state.common[0]["n_done"])]
        # Codes often ascend or descend: a stable sort notices, and takes an eighth of the time, else two thirds of it.
        done = done[np.argsort(arrays.values["code"][done], kind="stable")]
        needed = runs.size + 2 * done.size  # each value may cut a run in two
        fresh = self._spare if self._spare.size >= needed else np.empty(int(_SLACK * needed), lay.FINISHED)
        n, n_waiting = archive_values(arrays.values, arrays.endings, done, runs, fresh, self._place)
        if n_waiting:
            arrays.done[:n_waiting] = done[:n_waiting]
        state.common["n_done"] = n_waiting
        self._spare, self._whole, self.runs = self._whole, fresh, fresh[:n]

    def rest(self) -> None:
        """A batch is over: keep no more than the runs."""
        if self._whole.size:
            self.runs = self.runs.view(np.uint8).copy().view(lay.FINISHED)  # else record by record, field by field
            self._whole = self._spare = self.runs[:0].copy()

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
        ages = [state.arrays.endings["touched"][waiting], self.runs["touched"], np.array(others, np.int64)]
        codes = [state.arrays.values["code"][waiting], self.runs["low"], np.arange(len(others))]
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
        gone = self.runs[np.sort(which)]
        self.runs = np.delete(self.runs, which)
        n_values = state.n_values
        codes = state.arrays.values["code"][:n_values]
        place = np.searchsorted(gone["low"], codes, side="right") - 1
        hit = place >= 0
        hit[hit] = codes[hit] <= gone["high"][place[hit]]
        affected = np.flatnonzero(hit & (state.arrays.values["flags"][:n_values] & lay.ARCHIVED != 0))
        state.arrays.values["flags"][affected] &= lay.OPEN_ANY
        state.arrays.endings["last_ts"][affected] = lay.NEVER

    def renumber(self, moved: Ints) -> None:
        """Codes have changed; runs of numbered keys hold one code each."""
        runs = self.runs.copy()
        runs["low"] = runs["high"] = moved[runs["low"]]
        self.runs = runs[np.argsort(runs["low"])]

    def save(self) -> Content:
        """The runs, and how many entries were forgotten."""
        return Content({"forgotten": to_json(self.forgotten)}, {"runs": self.runs})

    def load(self, saved: Loaded) -> None:
        """Go on from `save`."""
        self.runs = saved.records["runs"].astype(lay.FINISHED)
        self.forgotten = from_json(saved.plain["forgotten"])


def _smallest(ages: Ints, is_other: Ints, codes: Ints, n: int) -> Ints:
    """Positions of the `n` smallest by age, then kind, then code; only those that may be among them are sorted."""
    candidates = np.flatnonzero(ages <= np.partition(ages, n - 1)[n - 1])
    order = np.lexsort((codes[candidates], is_other[candidates], ages[candidates]))
    return candidates[order[:n]]
