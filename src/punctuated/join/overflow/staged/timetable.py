"""Where the objects of a batch must be interrupted, so that events are told in time."""

from collections.abc import Sequence

import numpy as np

from punctuated.join.state.saved import Ints
from punctuated.kernels import layout as lay
from punctuated.kernels.packed import unpack_object
from punctuated.model.spec import StreamSpec

_NOTHING = np.empty(0, np.int64)


class Timetable:
    """The objects of a batch, as far as somebody may have to look after one."""

    def __init__(self, streams: Sequence[StreamSpec], silence_us: int | None) -> None:
        self._always_end = [stream.unique or stream.clustered for stream in streams]
        self._silence_us = silence_us
        self.silences, self.ends, self._times, self._endings = _NOTHING, _NOTHING, _NOTHING, _NOTHING

    def begin(self, order: Ints, inputs: Sequence[lay.Objects]) -> None:
        """Another batch."""
        position, is_punctuation, side = unpack_object(order)
        self._times = np.empty(order.size, np.int64)
        is_end = np.zeros(order.size, np.bool_)
        may_end = is_punctuation != 0
        for number, objects in enumerate(inputs):
            ours = side == number
            said = ours & (is_punctuation != 0)
            self._times[ours & ~said] = objects.ts[position[ours & ~said]]
            self._times[said] = objects.punctuation_ts[position[said]]
            is_end[said] = objects.punctuation_kind[position[said]] == lay.END_STREAM
            may_end |= ours & self._always_end[number]
        self.ends = np.flatnonzero(is_end)
        self._endings = np.cumsum(may_end)
        gaps = np.diff(self._times) >= (lay.FOREVER if self._silence_us is None else self._silence_us)
        self.silences = np.flatnonzero(gaps) + 1

    def next_stop(self, at: int, stop: int) -> int:
        """The next object before which a silence lies, or by which a stream ends, or `stop`."""
        for places in (self.silences, self.ends):
            following = np.searchsorted(places, at, side="right")
            if following < places.size:
                stop = min(stop, int(places[following]))
        return stop

    def after_endings(self, at: int, n: int) -> int:
        """Behind the object that brings the n-th ending from `at` on, if each one that may brings one."""
        before = int(self._endings[at - 1]) if at else 0
        return int(np.searchsorted(self._endings, before + n)) + 1

    def after_time(self, time: int) -> int:
        """Behind the first object that is not before a time."""
        return int(np.searchsorted(self._times, time)) + 1
