"""Which share of a join's tuples probes and is stored, batch by batch, where CPU or memory is short (KN-33 … KN-42).

Invariant: shares follow from the rates of earlier batches, in event time, which are part of the state. So a batch that
is repeated sheds the same tuples. Only the very first batch goes by its own rates.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from punctuated.arrow.ipc import from_json, to_json
from punctuated.intake.prepare import PreparedBatch
from punctuated.kernels import layout as lay
from punctuated.model.counters import per_stream
from punctuated.model.load import Allocate, smoothed
from punctuated.model.shed import Shed
from punctuated.model.spec import LEFT, RIGHT, Side, StreamSpec
from punctuated.model.window import CountWindow, TimeWindow
from punctuated.shedding.coins import ID, SHARE, Shares, Sides, flip_coins
from punctuated.snapshot.parts import Content, Loaded


class ShedControl:
    """Decides for each batch what is shed, and counts it."""

    def __init__(self, shed: Shed, streams: Sequence[StreamSpec], allocate: Allocate) -> None:
        self._shed, self._streams, self._allocate = shed, streams, allocate
        self._rates: Sides | None = None
        self._newest: int | None = None
        self._pace = None if shed.trigger_us is None else Pace(shed.trigger_us)
        self.shares = Shares()
        self.tuples, self.probing, self.stored = ([0, 0] for _ in range(3))

    def apply(self, intakes: Sequence[PreparedBatch], now_us: int | None = None) -> None:
        """Flip the coins of a batch: rows get the hidden columns, and tuples that are shed get a status that says so.

        `now_us` is the engine's time of the batch.
        """
        if self._pace is not None and now_us is not None:
            self._pace.begin(now_us)
        probed = sum(self.probing)
        self.shares = self._next_shares(intakes)
        for side in Side:
            intake = intakes[side]
            coins = flip_coins(intake.rows, side, self._shed.seed, self.shares)
            intake.objects.status[~coins.probes] |= lay.NO_PROBE
            intake.objects.status[~coins.stores] |= lay.NO_STORE
            share = np.full(len(intake.rows), self.shares.store[side])
            intake.rows = intake.rows.append_column(ID, pa.array(coins.ids)).append_column(SHARE, pa.array(share))
            self.tuples[side] += len(intake.rows)
            self.probing[side] += int(np.count_nonzero(coins.probes))
            self.stored[side] += int(np.count_nonzero(coins.stores))
        if self._pace is not None:
            self._pace.probes = sum(self.probing) - probed

    def _next_shares(self, intakes: Sequence[PreparedBatch]) -> Shares:
        times = [intake.objects.ts for intake in intakes if intake.objects.ts.size]
        if not times:
            return self.shares
        newest = max(int(ts[-1]) for ts in times)
        start = min(int(ts[0]) for ts in times) if self._newest is None else self._newest
        seconds = (newest - start) / 1e6
        if seconds <= 0:
            return self.shares
        measured = len(intakes[LEFT].rows) / seconds, len(intakes[RIGHT].rows) / seconds
        before = self._rates or measured
        self._newest = newest
        left, right = smoothed(before, measured)
        self._rates = left, right
        windows = self._window(LEFT, before[LEFT]), self._window(RIGHT, before[RIGHT])
        if self._pace is None:
            return Shares.of(before, windows, *self._allocate(before, windows, None))
        # CPU is measured in the engine's time: a batch is what comes between two triggers.
        coming = tuple(len(intake.rows) / self._pace.trigger_s for intake in intakes)
        arriving = coming[LEFT], coming[RIGHT]
        limit = self._pace.limit if self._pace.limit is not None else math.inf
        if sum(arriving) <= limit:
            limit = max(1.0, sum(arriving))
        return Shares.of(arriving, windows, *self._allocate(arriving, windows, limit))

    def _window(self, side: Side, rate: float) -> float:
        """How many tuples the complete window of a side holds."""
        window = self._streams[side].window
        if isinstance(window, TimeWindow):
            return rate * window.span_us / 1e6
        return float(window.n) if isinstance(window, CountWindow) else float(self.tuples[side])

    @property
    def kept(self) -> dict[str, float]:
        """Which share of the tuples has probed, and which was stored."""
        shares: dict[str, float] = {}
        for name, done in (("probed", self.probing), ("stored", self.stored)):
            shares |= {each: done[side] / max(1, self.tuples[side]) for side, each in enumerate(per_stream(name))}
        return shares

    def left_out(self, unprocessed: Sequence[lay.Bytes] = (), except_of: Sequence[int] = ()) -> dict[str, list[int]]:
        """How many tuples of each stream did not probe, and how many were not stored.

        A batch is shed at its beginning: `unprocessed` has the status of tuples that have not been processed yet, and
        do not count. `except_of` are sides that another bucket counts.
        """
        counts: dict[str, list[int]] = {}
        for name, done, mark in (("unprobed", self.probing, lay.NO_PROBE), ("unstored", self.stored, lay.NO_STORE)):
            counts[name] = [tuples - n for tuples, n in zip(self.tuples, done, strict=True)]
            for side, status in enumerate(unprocessed):
                counts[name][side] -= int(np.count_nonzero(status & mark))
            for side in except_of:
                counts[name][side] = 0
        return counts

    def save(self) -> Content:
        """Rates, shares and counts."""
        counted = [self.tuples, self.probing, self.stored]
        pace = None if self._pace is None else self._pace.save()
        return Content({"control": to_json([self._rates, self._newest, self.shares.to_text(), counted, pace])})

    def load(self, saved: Loaded) -> None:
        """Go on where `save` was."""
        rates, self._newest, shares, counted, pace = from_json(saved.plain["control"])
        self._rates, self.shares = None if rates is None else tuple(rates), Shares.from_text(shares)
        self.tuples, self.probing, self.stored = counted
        if self._pace is not None:
            self._pace.load(pace)


class Pace:
    """How many tuples a second may probe, so that a micro-batch takes no longer than its trigger.

    The limit follows from the engine's times of batches and is part of the state: no clock is read.
    """

    _LATE, _FASTER = 1.2, 1.25  # of the trigger, beyond which batches are too slow; how fast the limit is lifted

    def __init__(self, trigger_us: int) -> None:
        self.trigger_s = trigger_us / 1e6
        self.limit: float | None = None
        self.probes = 0  # of the last batch
        self._last_us: int | None = None

    def begin(self, now_us: int) -> None:
        """A batch begins; the time since the last one began shows whether that one was too much."""
        if self._last_us is not None and self.probes:
            seconds = max(1e-6, (now_us - self._last_us) / 1e6)
            if seconds > self._LATE * self.trigger_s:
                self.limit = self.probes / seconds
            elif self.limit is not None:
                self.limit *= self._FASTER
        self._last_us = now_us

    def save(self) -> list[Any]:
        """The limit and what it follows from, as plain data."""
        return [self.limit, self.probes, self._last_us]

    def load(self, saved: list[Any]) -> None:
        """Go on where `save` was."""
        self.limit, self.probes, self._last_us = saved
