"""Idle streams: when a stream has been silent for a while, its watermark follows the others.

It follows the smallest watermark of the streams that are not silent. If all are silent, they follow the one that is
furthest ahead, so that pending output comes out.

Silence is measured by the engine's time of the batch, which is the same when a batch is repeated; no clock is read.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from punctuated.arrow.ipc import from_json, to_json
from punctuated.intake.watermarks import read_tick
from punctuated.kernels.layout import NEVER, Records
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import StreamSpec
from punctuated.snapshot.parts import Content, Loaded


class IdleStreams:
    """When each stream last sent anything, in the engine's time."""

    def __init__(self, streams: Sequence[StreamSpec]) -> None:
        self._streams = streams
        self._last_seen: list[int | None] = [None] * len(streams)

    def release(self, batches: Sequence[StreamBatch], sides: Records, now_us: int) -> list[StreamBatch]:
        """The batches, with a time punctuation for a stream that has been silent for its `idle_after`.

        `sides` are the streams' records before the batch.
        """
        silent = [self._is_silent(side, batch, now_us) for side, batch in enumerate(batches)]
        released = list(batches)
        if any(silent):
            reached = [_reached(*each) for each in zip(self._streams, batches, sides, strict=True)]
            for side in np.flatnonzero(silent).tolist():
                others = [other for other in range(len(silent)) if other != side]
                awake = [reached[other] for other in others if not silent[other]]
                followed = min(awake) if awake else max(reached[other] for other in others)
                released[side] = self._moved_on(side, batches[side], sides, followed)
        return released

    def _is_silent(self, side: int, batch: StreamBatch, now_us: int) -> bool:
        seen, after = self._last_seen[side], self._streams[side].idle_after_us
        if _brings_objects(batch) or seen is None:
            self._last_seen[side] = seen = now_us
        return after is not None and now_us - seen >= after

    def _moved_on(self, side: int, batch: StreamBatch, sides: Records, followed: "_Reached") -> StreamBatch:
        if followed.watermark <= int(sides["watermark"][side]) or followed.watermark <= NEVER // 2:
            return batch
        stream = self._streams[side]
        bound = Range(None, followed.watermark, high_closed=False)
        patterns: tuple[Pattern, ...] = tuple(bound if name == stream.time else WILDCARD for name in stream.columns)
        moved = Punctuation(max(followed.watermark, followed.newest), patterns, in_band=False)
        return replace(batch, punctuations=(*batch.punctuations, moved))

    def save(self) -> Content:
        """When each stream last sent anything."""
        return Content({"last_seen": to_json(self._last_seen)})

    def load(self, saved: Loaded) -> None:
        """Continue from what `save` gave."""
        self._last_seen = from_json(saved.plain["last_seen"])


class _Reached(NamedTuple):
    """How far a stream will be after this batch."""

    watermark: int
    newest: int  # the newest time in the batch


def _reached(stream: StreamSpec, batch: StreamBatch, record: np.void) -> _Reached:
    newest = NEVER if batch.tick is None else read_tick(stream, batch.tick, int(record["newest"])).newest
    return _Reached(max(int(record["watermark"]), newest - stream.lateness_us), newest)


def _brings_objects(batch: StreamBatch) -> bool:
    """Whether the stream has sent anything in this batch, here or to another bucket."""
    return batch.tick is not None and len(batch.tick) > 0
