"""How the values of a range stand: which streams have ended them, when, and whether the output was told."""

from typing import NamedTuple

from punctuated.join.state.cuts import Stretch
from punctuated.kernels import layout as lay
from punctuated.model.side import Side

ENDED = lay.ENDED | lay.EFFECT
OVER = ENDED << Side.LEFT | ENDED << Side.RIGHT | lay.OUT
NO_TIMES = (lay.NEVER, lay.NEVER)


class Standing(NamedTuple):
    """What is known of values under ranges in effect.

    A stream's time is NEVER once it is settled: all settled ranges of a stream share the latest time among them.
    """

    flags: int
    ts: tuple[int, int]
    touched: int

    @staticmethod
    def of(record: lay.Records) -> "Standing":
        """As a record of `layout.RANGE` holds it."""
        flags, ts, touched = record["flags"], record["ts"].tolist(), record["touched"]
        return Standing(int(flags), (ts[Side.LEFT], ts[Side.RIGHT]), int(touched))

    def is_like(self, other: "Standing") -> bool:
        """Whether nothing but their age tells them apart."""
        return self.flags == other.flags and self.ts == other.ts

    def has_ended(self, side: Side) -> bool:
        """Whether the stream has ended the values."""
        return bool(self.flags & (ENDED << side))

    def ended_by(self, side: Side, ts: int, touched: int, *, tells: bool) -> "Standing":
        """The same after the stream has ended the values; with `tells`, what both have ended is over in the output."""
        if self.has_ended(side):
            return self
        if tells and self.has_ended(side.other):
            return Standing(OVER, NO_TIMES, touched)
        times = (ts, self.ts[Side.RIGHT]) if side == Side.LEFT else (self.ts[Side.LEFT], ts)
        return Standing(self.flags | ENDED << side, times, touched)

    def settled(self, watermark: int) -> "Standing":
        """The same without the times that the output watermark has reached."""
        left, right = (lay.NEVER if ts <= watermark else ts for ts in self.ts)
        return self._replace(ts=(left, right))

    def latest_settled(self, watermark: int, earlier: tuple[int, int]) -> tuple[int, int]:
        """The latest time of each stream among earlier ones and those that are settled here."""
        left, right = (max(last, ts) if ts <= watermark else last for last, ts in zip(earlier, self.ts, strict=True))
        return left, right


UNKNOWN = Standing(0, NO_TIMES, 0)


class Segment(NamedTuple):
    """A stretch of values that stand alike."""

    stretch: Stretch
    standing: Standing


def cut_at(segments: list[Segment], stretch: Stretch) -> list[tuple[Segment, bool]]:
    """Ascending segments that overlap or touch a stretch, cut at its ends, its gaps filled; and what lies inside it."""
    start, stop = stretch
    parts: list[tuple[Segment, bool]] = []
    filled = start
    for (first, last), standing in segments:
        if filled.place < min(first.place, stop.place):
            parts.append((Segment(Stretch(filled, min(first, stop)), UNKNOWN), True))
        for low, high, is_inside in (
            (first, min(last, start), False),
            (max(first, start), min(last, stop), True),
            (max(first, stop), last, False),
        ):
            if low.place < high.place:
                parts.append((Segment(Stretch(low, high), standing), is_inside))
        filled = max(filled, last)
    if filled.place < stop.place:
        parts.append((Segment(Stretch(filled, stop), UNKNOWN), True))
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
