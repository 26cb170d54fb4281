"""How the values of a range stand: which streams have ended them, when, and whether the output was told."""

from collections.abc import Sequence
from typing import NamedTuple

from punctuated.join.state.cuts import Stretch
from punctuated.kernels import layout as lay

ENDED = lay.ENDED | lay.EFFECT


def ended_by_all(n_streams: int) -> int:
    """The flags of values that all streams have ended."""
    return ENDED * lay.all_sides(n_streams)


def over(n_streams: int) -> int:
    """The flags of values that are over in the output."""
    return ended_by_all(n_streams) | lay.OUT


def no_times(n_streams: int) -> tuple[int, ...]:
    """The times of values that are settled, or that nobody has ended; one for each place of a record."""
    return (lay.NEVER,) * lay.width_for(n_streams)


class Standing(NamedTuple):
    """What is known of values under ranges in effect.

    A stream's time is NEVER once it is settled: all settled ranges of a stream share the latest time among them.
    """

    flags: int
    ts: tuple[int, ...]
    touched: int

    @staticmethod
    def unknown(n_streams: int) -> "Standing":
        """That of values of which nothing is known."""
        return Standing(0, no_times(n_streams), 0)

    @staticmethod
    def of(record: lay.Records) -> "Standing":
        """As a record of `layout.range_type` holds it."""
        return Standing(int(record["flags"]), tuple(record["ts"].tolist()), int(record["touched"]))

    def is_like(self, other: "Standing") -> bool:
        """Whether nothing but their age tells them apart."""
        return self.flags == other.flags and self.ts == other.ts

    def has_ended(self, side: int) -> bool:
        """Whether the stream has ended the values."""
        return bool(self.flags & (ENDED << side))

    def ended_by(self, side: int, ts: int, touched: int, over_by: int | None) -> "Standing":
        """The same after the stream has ended the values.

        `over_by` are the flags of values that are over in the output by that, None if the output is not told.
        """
        if self.has_ended(side):
            return self
        flags = self.flags | ENDED << side
        if flags == over_by:
            return Standing(flags | lay.OUT, (lay.NEVER,) * len(self.ts), touched)
        return Standing(flags, (*self.ts[:side], ts, *self.ts[side + 1 :]), touched)

    def ended_ts(self, side: int, settled: Sequence[int]) -> int:
        """When the stream ended the values; `settled` is the time of each stream's settled ranges."""
        return self.ts[side] if self.ts[side] != lay.NEVER else settled[side]

    def settled(self, watermark: int) -> "Standing":
        """The same without the times that the output watermark has reached."""
        return self._replace(ts=tuple(lay.NEVER if ts <= watermark else ts for ts in self.ts))

    def latest_settled(self, watermark: int, earlier: tuple[int, ...]) -> tuple[int, ...]:
        """The latest time of each stream among earlier ones and those that are settled here."""
        both = zip(earlier, self.ts, strict=True)
        return tuple(max(last, ts) if ts <= watermark else last for last, ts in both)


class Segment(NamedTuple):
    """A stretch of values that stand alike."""

    stretch: Stretch
    standing: Standing


def cut_at(segments: list[Segment], stretch: Stretch, unknown: Standing) -> list[tuple[Segment, bool]]:
    """Ascending segments that overlap or touch a stretch, cut at its ends, its gaps filled; and what lies inside it."""
    start, stop = stretch
    parts: list[tuple[Segment, bool]] = []
    filled = start
    for (first, last), standing in segments:
        if filled.place < min(first.place, stop.place):
            parts.append((Segment(Stretch(filled, min(first, stop)), unknown), True))
        for low, high, is_inside in (
            (first, min(last, start), False),
            (max(first, start), min(last, stop), True),
            (max(first, stop), last, False),
        ):
            if low.place < high.place:
                parts.append((Segment(Stretch(low, high), standing), is_inside))
        filled = max(filled, last)
    if filled.place < stop.place:
        parts.append((Segment(Stretch(filled, stop), unknown), True))
    return parts


def glued(segments: list[Segment]) -> list[Segment]:
    """Neighbours that stand alike as one; it is as old as its youngest part."""
    together: list[Segment] = []
    for (start, stop), standing in segments:
        if together and together[-1].stretch.stop.place == start.place and together[-1].standing.is_like(standing):
            (start, _), before = together.pop()
            standing = standing._replace(touched=max(before.touched, standing.touched))
        together.append(Segment(Stretch(start, stop), standing))
    return together
