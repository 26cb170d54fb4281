"""A join after a micro-batch: its counters, named as in the metrics of a join over tables, and what only Spark knows.

Counters start with the query and survive restarts with its state, so the work of one batch is the difference to the
metrics of an earlier batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from punctuated.model.counters import COLUMNS, COUNTERS, STREAMS, Shown, columns_of, per_stream
from punctuated.model.spec import MOST_STREAMS
from punctuated.model.times import FOREVER

_ANY_COLUMN = frozenset(column for n in range(2, MOST_STREAMS + 1) for column in columns_of(n))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Counters(dict[str, int]):
    """The counters of a join, all buckets together, also as attributes; missing ones are 0.

    Example:
        >>> now, earlier = Counters(results=5, state_left=2), Counters(results=3, state_left=4)
        >>> now.results, (now - earlier).results, (now - earlier).state_left, now.purged
        (5, 2, -2, 0)
    """

    def __missing__(self, name: str) -> int:
        if name in _ANY_COLUMN:
            return 0
        raise KeyError(name)

    def __getattr__(self, name: str) -> int:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no counter {name!r}; known: {', '.join(COLUMNS)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *COLUMNS]

    def __sub__(self, earlier: "Counters") -> "Counters":
        return Counters({name: self[name] - earlier[name] for name in self.keys() | earlier.keys()})


@dataclass(frozen=True)
class JoinMetrics:
    """What a join has done up to a micro-batch, and in it."""

    query_id: str
    query_name: str | None
    join: str  # the names of its streams if its results go into another join; empty for the last join
    batch_id: int
    timestamp: str  # when the batch began, as Spark writes it
    input_rows: int
    buckets: int
    bytes: int  # memory of the state
    bytes_written: int  # to the state store, in this batch
    cache_hits: int  # buckets that were found in a worker's memory
    cache_misses: int  # buckets that were read from the state store
    watermarks: dict[str, int | None]  # by stream, microseconds; None: nothing came yet; FOREVER: it has ended
    stages_ms: dict[str, int] = field(default_factory=dict)  # Spark's, and the step's; `triggerExecution` is all of it
    total: Counters = field(default_factory=Counters)
    in_batch: Counters | None = None  # since the earlier metrics; None if these are not known
    streams: dict[str, str] = field(default_factory=lambda: {side: side for side in STREAMS})  # their names

    @property
    def batch_ms(self) -> int:
        """How long the whole batch took."""
        return self.stages_ms.get("triggerExecution", 0)

    def __str__(self) -> str:
        whose = f" of {self.join}" if self.join else ""
        state = " + ".join(f"{self.total[name]:,}" for name in per_stream("state", len(self.streams)))
        return (
            f"batch {self.batch_id}{whose}: {self.input_rows:,} rows in {self.batch_ms:,} ms; "
            f"state {state} tuples, {_size_text(self.bytes)}, {_size_text(self.bytes_written)} written; "
            f"{', '.join([*self._counted(Shown.ALWAYS), *self._counted(Shown.IF_ANY)])}; "
            f"cache {self.cache_hits} of {self.buckets}; "
            f"watermarks {', '.join(map(_time_text, self.watermarks.values()))}"
        )

    def _counted(self, shown: Shown) -> Iterator[str]:
        """Counters of the batch as text, or of all batches so far if those of the batch are not known."""
        done = self.total if self.in_batch is None else self.in_batch
        sign = "+" if shown is Shown.ALWAYS and self.in_batch is not None else ""
        for name in (name for each in COUNTERS if each.shown is shown for name in each.columns_of(len(self.streams))):
            if done[name] or shown is Shown.ALWAYS:
                yield f"{sign}{done[name]:,} {name}"


def _size_text(n: float) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"


def _time_text(watermark: int | None) -> str:
    if watermark is None:
        return "none"
    if watermark >= FOREVER:
        return "ended"
    try:
        return (_EPOCH + timedelta(microseconds=watermark)).isoformat(timespec="milliseconds")
    except OverflowError:  # times that are mere numbers
        return f"{watermark} us"
