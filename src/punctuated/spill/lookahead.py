"""What a part of a batch may touch: the values that its objects name, and what falls due before they are processed.

Invariant: times are bounds from above. What really falls due while the objects are processed is among what is found
here, so it is in memory when the kernels look for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from punctuated.kernels import layout as lay
from punctuated.kernels.order import unpack_object
from punctuated.snapshot.parts import NO_INTS, Ints
from punctuated.state.arrays import JoinState
from punctuated.state.multiway import MultiwayState

_TUPLE = -1  # as a kind, beside those of punctuations


@dataclass(frozen=True)
class BatchSlice:
    """Consecutive objects of a batch as arrays, in the order of processing."""

    side: Ints
    ts: Ints
    code: Ints
    kind: Ints  # of a punctuation, or that it is a tuple
    touches: Ints  # indices of the objects that name one value

    @staticmethod
    def of(order: Ints, inputs: Sequence[lay.Objects]) -> "BatchSlice":
        """The objects that a part of the order refers to."""
        index, is_punctuation, side = unpack_object(order)
        ts, code, kind = (np.empty(order.size, np.int64) for _ in range(3))
        names_value = np.zeros(order.size, np.bool_)
        for stream, objects in enumerate(inputs):
            tuples = (side == stream) & (is_punctuation == 0)
            at = index[tuples]
            ts[tuples], code[tuples], kind[tuples] = objects.ts[at], objects.code[at], _TUPLE
            names_value[tuples] = objects.status[at] & lay.NULL_KEY == 0
            punctuations = (side == stream) & (is_punctuation != 0)
            at = index[punctuations]
            ts[punctuations], code[punctuations] = objects.punctuation_ts[at], objects.punctuation_code[at]
            kind[punctuations] = objects.punctuation_kind[at]
            names_value[punctuations] = kind[punctuations] <= lay.ANNOUNCE_VALUE
        return BatchSlice(side, ts, code, kind, np.flatnonzero(names_value))

    def __len__(self) -> int:
        return int(self.kind.size)

    @property
    def codes(self) -> Ints:
        """The values that are named, each as often as it is."""
        return np.asarray(self.code[self.touches])

    @property
    def ends_stream(self) -> bool:
        """Whether the first object is the end of a stream."""
        return len(self) > 0 and bool(self.kind[0] == lay.END_STREAM)

    def until_stream_ends(self) -> "BatchSlice":
        """The objects before the end of a stream; that itself is processed by itself."""
        ends = np.flatnonzero(self.kind == lay.END_STREAM)
        return self.first(max(1, int(ends[0]))) if ends.size else self

    def first(self, n: int) -> "BatchSlice":
        """The first `n` objects."""
        touches = self.touches[: np.searchsorted(self.touches, n)]
        return BatchSlice(self.side[:n], self.ts[:n], self.code[:n], self.kind[:n], touches)

    def floors(self, n_streams: int) -> list[int]:
        """For each stream the latest time up to which a punctuation says that it is over, but for its end."""
        floors = np.full(n_streams, lay.NEVER)
        sets_floor = self.kind == lay.SET_FLOOR
        np.maximum.at(floors, self.side[sets_floor], self.code[sets_floor])
        return [int(floor) for floor in floors]


# What falls due


def watermarks_at(state: JoinState, moment: int, floors: Sequence[int]) -> list[int]:
    """The watermarks when the clock of the batch is at `moment`, and punctuations have set these floors."""
    reached = []
    for ours, floor in zip(state.sides, floors, strict=True):
        newest = max(int(ours["newest"]), min(moment, int(ours["batch_newest"])))
        reached.append(max(int(ours["watermark"]), newest - int(ours["lateness"]), int(ours["floor"]), floor))
    return reached


def may_end_before(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """For each side: a window that ends before this may have let its tuple go.

    Of many streams, one that has passed a tuple suffices, if the others have ended its value. A stream that is over
    has no watermark to wait for.
    """
    if isinstance(state, MultiwayState):
        return [max(limits, default=lay.NEVER) for limits in _limits_by_other(state, watermarks)]
    return _limits(state, watermarks)


def _has_ended_before(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """For each side: a window that ends before this has let its tuple go."""
    if isinstance(state, MultiwayState):
        return [min(limits, default=lay.NEVER) for limits in _limits_by_other(state, watermarks)]
    return _limits(state, watermarks)


def is_forgotten_before(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """For each side: a tuple whose window ends before this matters no more, not even as the last one of its value.

    Early propagation needs the time of a value's last tuple until its own stream is beyond it as well (PW-32).
    """
    limits, after = _has_ended_before(state, watermarks), state.sides["forget_after"].tolist()
    return [
        min(limits[side], _less(watermarks[side] - 1, after[side]))
        if state.sides["tracks_last"][side]
        else limits[side]
        for side in range(state.n_streams)
    ]


def due_timers(state: JoinState, watermarks: Sequence[int]) -> Ints:
    """The I-Nodes with an ending that may take effect, or a value that may be over in the output."""
    due = [NO_INTS]
    other = watermarks if isinstance(state, MultiwayState) else watermarks[::-1]
    for side in range(state.n_streams):
        for name, until in (("pending", watermarks[side] + 1), ("deadlines", other[side])):
            timers = getattr(state.arrays, name)[side][: int(state.sides[f"n_{name}"][side])]
            due.append(timers["value"][timers["time"] < until])
    return np.concatenate(due)


def _limits(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    after = state.sides["forget_after"].tolist()
    return [_less(watermarks[1 - side], after[side]) for side in range(2)]


def _limits_by_other(state: MultiwayState, watermarks: Sequence[int]) -> list[list[int]]:
    far, running = state.many.max_gaps.tolist(), (state.sides["end_ts"] == lay.FOREVER).tolist()
    others = [[o for o in range(state.n_streams) if o != side and running[o]] for side in range(state.n_streams)]
    return [[_less(watermarks[o], far[side][o]) for o in others[side]] for side in range(state.n_streams)]


def _less(watermark: int, after: int) -> int:
    return lay.NEVER if after == lay.UNBOUNDED else watermark - after
