"""How far time may go while some objects are processed: what falls due until then must be in memory before."""

from collections.abc import Sequence

import numpy as np

from punctuated.join.state.arrays import JoinState
from punctuated.join.state.multiway_arrays import MultiwayState
from punctuated.join.state.saved import NO_INTS, Ints
from punctuated.kernels import layout as lay


def watermarks_at(state: JoinState, moment: int, floors: Sequence[int]) -> list[int]:
    """The watermarks when the clock of the batch is at a moment; `floors` are what the streams say of themselves."""
    reached = []
    for ours, floor in zip(state.sides, floors, strict=True):
        newest = max(int(ours["newest"]), min(moment, int(ours["batch_newest"])))
        reached.append(max(int(ours["watermark"]), newest - int(ours["lateness"]), int(ours["floor"]), floor))
    return reached


def first_ends(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """Per side: windows that end before this may have made a tuple leave.

    Of more streams one that has come beyond a tuple suffices, if others have ended its value; those that are over
    altogether have said so.
    """
    if isinstance(state, MultiwayState):
        return [max(limits, default=lay.NEVER) for limits in _beyond(state, watermarks)]
    return _by_other(state, watermarks)


def last_ends(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """Per side: windows that end before this are over."""
    if isinstance(state, MultiwayState):
        return [min(limits, default=lay.NEVER) for limits in _beyond(state, watermarks)]
    return _by_other(state, watermarks)


def due_timers(state: JoinState, watermarks: Sequence[int]) -> Ints:
    """The I-Nodes of endings that may take effect, and of ended values that may be over in the output."""
    due = [NO_INTS]
    watched = watermarks if isinstance(state, MultiwayState) else watermarks[::-1]
    for side in range(state.n_streams):
        for name, until in (("pending", watermarks[side] + 1), ("deadlines", watched[side])):
            timers = getattr(state.arrays, name)[side][: int(state.sides[f"n_{name}"][side])]
            due.append(timers["value"][timers["time"] < until])
    return np.concatenate(due)


def _by_other(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    after = state.sides["forget_after"].tolist()
    return [_less(watermarks[1 - side], after[side]) for side in range(2)]


def _beyond(state: MultiwayState, watermarks: Sequence[int]) -> list[list[int]]:
    far, running = state.many.far.tolist(), (state.sides["end_ts"] == lay.FOREVER).tolist()
    others = [[o for o in range(state.n_streams) if o != side and running[o]] for side in range(state.n_streams)]
    return [[_less(watermarks[o], far[side][o]) for o in others[side]] for side in range(state.n_streams)]


def _less(watermark: int, after: int) -> int:
    return lay.NEVER if after == lay.UNBOUNDED else watermark - after
