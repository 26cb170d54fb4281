"""Figures of a running query for people who watch it: rows in and out, state, punctuations and lag of each stream."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from punctuated.model.counters import per_stream
from punctuated.model.rejection import Rejection
from punctuated.model.times import FOREVER
from punctuated.spark.metrics.join_metrics import JoinMetrics

_WINDOW_S = 10.0  # a rate is the mean over this time


@dataclass(frozen=True)
class StreamFigures:
    """The figures of one stream after a micro-batch; counts are since the first start of the query."""

    rows_in: int
    per_second: float
    state: int
    punctuations: int
    rejected: int
    watermark_us: int | None  # None before the first row

    @property
    def has_ended(self) -> bool:
        """Whether no more rows can come."""
        return self.watermark_us is not None and self.watermark_us >= FOREVER

    def behind_s(self, now: float) -> float | None:
        """Seconds by which its event time lies behind the clock; None before the first row and at the end."""
        return None if self.watermark_us is None or self.has_ended else now - self.watermark_us / 1e6


class Rate:
    """How fast a count grows."""

    def __init__(self, clock: Callable[[], float], since: float, before: int) -> None:
        self._clock = clock
        self._seen = deque([(since, before)])

    def of(self, total: int) -> float:
        """The growth per second over the last seconds, now that the count is `total`."""
        now = self._clock()
        self._seen.append((now, total))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW_S:
            self._seen.popleft()
        since, before = self._seen[0]
        return (total - before) / (now - since) if now > since else 0.0


@dataclass
class Figures:
    """The figures of one query, which follow from the metrics of its joins after each micro-batch."""

    batch: int = -1
    batch_ms: int = 0
    rows_in_batch: int = 0
    rows_out: int = 0  # in this run
    rows_out_per_second: float = 0.0
    punctuations_out: int = 0
    streams: Mapping[str, StreamFigures] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._rates: dict[str, Rate] = {}
        self._out = Rate(self.clock, self._began, 0)

    def add_metrics(self, metrics: JoinMetrics) -> None:
        """Add the metrics of a micro-batch of one join."""
        self.batch, self.batch_ms, self.rows_in_batch = metrics.batch_id, metrics.batch_ms, metrics.input_rows
        if not metrics.join:
            self.punctuations_out = metrics.total.punctuations_out
        self.streams = {**self.streams, **self._streams(metrics)}

    def add_output(self, rows: int) -> None:
        """Count this many more rows of output."""
        self.rows_out += rows
        self.rows_out_per_second = self._out.of(self.rows_out)

    def tick(self) -> None:
        """Compute the rates anew: they fall while no rows come."""
        self.rows_out_per_second = self._out.of(self.rows_out)
        self.streams = {
            name: replace(each, per_second=self._rates[name].of(each.rows_in)) for name, each in self.streams.items()
        }

    @property
    def rows_in(self) -> int:
        """The rows of all streams."""
        return sum(each.rows_in for each in self.streams.values())

    @property
    def rejected(self) -> int:
        """The rejected rows of all streams."""
        return sum(each.rejected for each in self.streams.values())

    def _streams(self, metrics: JoinMetrics) -> dict[str, StreamFigures]:
        n, total = len(metrics.streams), metrics.total
        rejected = [per_stream(reason.counter, n) for reason in Rejection]
        found = {}
        for i, (label, name) in enumerate(metrics.streams.items()):
            column = per_stream("tuples", n)[i]
            rows, new = total[column], 0 if metrics.in_batch is None else metrics.in_batch[column]
            rate = self._rates.setdefault(name, Rate(self.clock, self._began, rows - new))
            found[name] = StreamFigures(
                rows_in=rows,
                per_second=rate.of(rows),
                state=total[per_stream("state", n)[i]],
                punctuations=total[per_stream("punctuations", n)[i]],
                rejected=sum(total[columns[i]] for columns in rejected),
                watermark_us=metrics.watermarks[label],
            )
        return found
