"""Idle streams: after a while of silence a stream's watermark follows the other's.

Silence is measured by the engine's time of the batch, which is the same when a batch is repeated; no clock is read.
"""

from collections.abc import Sequence
from dataclasses import replace

from punctuated.join.driver import JoinDriver
from punctuated.join.exchange.tick import read_tick
from punctuated.kernels.layout import NEVER
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.side import LEFT, RIGHT, Side


def release_idle(driver: JoinDriver, batches: Sequence[StreamBatch], now_us: int) -> tuple[StreamBatch, StreamBatch]:
    """The batches, with a time punctuation for a stream that has been silent for its `idle_after`."""
    released = list(batches)
    for side in Side:
        stream = driver.spec.streams[side]
        if brings_objects(batches[side]) or driver.last_seen[side] is None:
            driver.last_seen[side] = now_us
        seen = driver.last_seen[side]
        if stream.idle_after_us is not None and seen is not None and now_us - seen >= stream.idle_after_us:
            released[side] = _moved_on(driver, side, batches[side], batches[side.other])
    return released[LEFT], released[RIGHT]


def brings_objects(batch: StreamBatch) -> bool:
    """Whether the stream has sent anything in this batch, here or to another bucket."""
    return batch.tick is not None and len(batch.tick) > 0


def _moved_on(driver: JoinDriver, side: Side, ours: StreamBatch, other: StreamBatch) -> StreamBatch:
    record, theirs = driver.state.sides[side.other], driver.spec.streams[side.other]
    brought = NEVER if other.tick is None else read_tick(theirs, other.tick, int(record["newest"])).newest
    reached = max(int(record["watermark"]), brought - theirs.lateness_us)
    if reached <= int(driver.state.sides["watermark"][side]) or reached <= NEVER // 2:
        return ours
    stream = driver.spec.streams[side]
    patterns: tuple[Pattern, ...] = tuple(
        Range(None, reached, high_closed=False) if name == stream.time else WILDCARD for name in stream.columns
    )
    moved = Punctuation(max(brought, reached), patterns, in_band=False)
    return replace(ours, punctuations=(*ours.punctuations, moved))
