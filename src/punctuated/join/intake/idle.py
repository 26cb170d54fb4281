"""Idle streams: after a while of silence a stream's watermark follows the other's.

Silence is measured by the engine's time of the batch, which is the same when a batch is repeated; no clock is read.
"""

from collections.abc import Sequence
from dataclasses import replace

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.exchange.tick import read_tick
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels.layout import NEVER, Records
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.side import Side
from punctuated.model.spec import StreamSpec


class IdleStreams:
    """When each stream was last heard of, in the engine's time."""

    def __init__(self, streams: Sequence[StreamSpec]) -> None:
        self._streams = streams
        self._last_seen: list[int | None] = [None] * len(streams)

    def release(self, batches: Sequence[StreamBatch], sides: Records, now_us: int) -> list[StreamBatch]:
        """The batches, with a time punctuation for a stream that has been silent for its `idle_after`.

        `sides` are the streams' records before the batch.
        """
        released = list(batches)
        for side, stream in zip(Side, self._streams, strict=True):
            seen = self._last_seen[side]
            if _brings_objects(batches[side]) or seen is None:
                self._last_seen[side] = seen = now_us
            if stream.idle_after_us is not None and now_us - seen >= stream.idle_after_us:
                released[side] = self._moved_on(side, batches, sides)
        return released

    def _moved_on(self, side: Side, batches: Sequence[StreamBatch], sides: Records) -> StreamBatch:
        ours, other, theirs = batches[side], batches[side.other], self._streams[side.other]
        record = sides[side.other]
        brought = NEVER if other.tick is None else read_tick(theirs, other.tick, int(record["newest"])).newest
        reached = max(int(record["watermark"]), brought - theirs.lateness_us)
        if reached <= int(sides["watermark"][side]) or reached <= NEVER // 2:
            return ours
        stream = self._streams[side]
        patterns: tuple[Pattern, ...] = tuple(
            Range(None, reached, high_closed=False) if name == stream.time else WILDCARD for name in stream.columns
        )
        moved = Punctuation(max(brought, reached), patterns, in_band=False)
        return replace(ours, punctuations=(*ours.punctuations, moved))

    def save(self) -> Content:
        """When streams were last seen."""
        return Content({"last_seen": to_json(self._last_seen)})

    def load(self, saved: Loaded) -> None:
        """Go on from `save`."""
        self._last_seen = from_json(saved.plain["last_seen"])


def _brings_objects(batch: StreamBatch) -> bool:
    """Whether the stream has sent anything in this batch, here or to another bucket."""
    return batch.tick is not None and len(batch.tick) > 0
