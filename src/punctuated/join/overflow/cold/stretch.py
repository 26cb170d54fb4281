"""A stretch of a batch's objects as arrays: what they touch, and how far they let time go."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from punctuated.join.state.saved import Ints
from punctuated.kernels import layout as lay
from punctuated.kernels.packed import unpack_object

_TUPLE = -1  # in the place of the kind of a punctuation


@dataclass(frozen=True)
class Stretch:
    """Objects in the order of processing."""

    side: Ints
    ts: Ints
    code: Ints
    kind: Ints  # of a punctuation, or that it is a tuple
    touches: Ints  # places of the objects that speak of one value

    @staticmethod
    def of(order: Ints, inputs: Sequence[lay.Objects]) -> "Stretch":
        """The objects of a part of the order."""
        place, is_punctuation, side = unpack_object(order)
        ts, code, kind = (np.empty(order.size, np.int64) for _ in range(3))
        names_value = np.zeros(order.size, np.bool_)
        for of, objects in enumerate(inputs):
            ours = (side == of) & (is_punctuation == 0)
            at = place[ours]
            ts[ours], code[ours], kind[ours] = objects.ts[at], objects.code[at], _TUPLE
            names_value[ours] = objects.status[at] & lay.NULL_KEY == 0
            said = (side == of) & (is_punctuation != 0)
            at = place[said]
            ts[said], code[said] = objects.punctuation_ts[at], objects.punctuation_code[at]
            kind[said] = objects.punctuation_kind[at]
            names_value[said] = kind[said] <= lay.ANNOUNCE_VALUE
        return Stretch(side, ts, code, kind, np.flatnonzero(names_value))

    def until_stream_ends(self) -> int:
        """How many objects come before the end of a stream; that itself comes alone."""
        ends = np.flatnonzero(self.kind == lay.END_STREAM)
        return self.kind.size if not ends.size else max(1, int(ends[0]))

    def first(self, n: int) -> "Stretch":
        """Its first objects."""
        touches = self.touches[: np.searchsorted(self.touches, n)]
        return Stretch(self.side[:n], self.ts[:n], self.code[:n], self.kind[:n], touches)

    def floors(self, n_streams: int) -> list[int]:
        """The latest times up to which each stream says that it is over, but for its end."""
        floors = np.full(n_streams, lay.NEVER)
        said = self.kind == lay.SET_FLOOR
        np.maximum.at(floors, self.side[said], self.code[said])
        return [int(floor) for floor in floors]
