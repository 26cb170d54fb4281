"""The output of the oracle, and what the oracle remembers between batches, in plain lists and dictionaries.

Nothing is ever removed for speed: a stream keeps every tuple that it has accepted, and questions about the past are
answered by looking through all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from punctuated.model.batch import Row
from punctuated.model.pattern import WILDCARD, Constant, OneOf, Range, Wildcard
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow, UntilWindow
from punctuated.testing.reference_patterns import Patterns, is_empty

Key = tuple[Any, ...]
MEANINGS = ("values", "range", "time", "promise", "nothing", "end")  # of punctuations, in the order of processing


# Output


@dataclass(frozen=True)
class Unmatched:
    """A tuple of a preserved side of which it is proved that no tuple will match it; `ts` is the time of the proof."""

    side: int
    row: Row
    ts: int


@dataclass(frozen=True)
class OutputPunctuation:
    """A promise of the output: no later result has this join value, or a join value that `patterns` match."""

    key: Key | None
    ts: int
    reason: str
    patterns: Patterns | None = None


@dataclass(frozen=True)
class Rejected:
    """A tuple that does not take part, and why: `late`, `ahead`, `promise` or `after_output`."""

    side: int
    row: Row
    reason: str


@dataclass
class BatchOutput:
    """What one batch brings; counters are totals since the start.

    `result_ts` has the time of each result, which is that of its latest tuple. A semi join returns (left, None) at the
    first match, also with the time of the later tuple.
    """

    results: list[tuple[Row | None, ...]] = field(default_factory=list)
    result_ts: list[int] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
    punctuations: list[OutputPunctuation] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    watermark: float | None = None  # None before both streams have one, infinite after both have ended
    stored: tuple[int, ...] = (0, 0)
    forgotten: int = 0  # entries of the memory of punctuations
    purged: int = 0
    invalidated: int = 0
    evicted: int = 0
    discarded: int = 0  # on the fly
    dropped: int = 0  # not processed, since the output had been punctuated early


# What is remembered of objects


@dataclass(frozen=True)
class Arrival:
    """An object of a batch; a flagged tuple is two of them, a tuple and a punctuation, with the same number."""

    side: int
    ts: int
    number: int
    row: Row | None = None
    punctuation: Punctuation | None = None
    flagged: bool = False


@dataclass(eq=False)
class Accepted:
    """A tuple that was not rejected."""

    row: Row
    ts: int
    key: Key
    end: float  # the last time at which later tuples can still meet it, by time windows
    matched: bool = False
    is_counted: bool = (
        False  # among the tuples of a count window; one that matched in a semi join is, without being stored
    )

    @property
    def has_null(self) -> bool:
        return None in self.key


@dataclass(eq=False)
class Ending:
    """A stream's promise that a value is over; it is pending until the watermark of the stream has reached its time.

    An ending that was announced apart from the stream is pending until the watermark is beyond `ts`, since a tuple with
    exactly that time may still come.
    """

    ts: int
    arrival: int
    in_effect: bool = False
    announced: bool = False

    @property
    def effect_ts(self) -> int:
        """The lowest watermark at which the ending is in effect."""
        return self.ts + self.announced


@dataclass
class EndedValue:
    """A value that some stream has ended by name."""

    touched: int
    punctuated: bool  # in the output
    endings: dict[int, Ending] = field(default_factory=dict)


@dataclass(eq=False)
class PatternEnding(Ending):
    """A pending promise that all values are over that match the patterns, one for each key column."""

    patterns: Patterns = ()
    touched: int = 0


@dataclass(eq=False)
class OraclePromise:
    """A punctuation that ends no value: it only says which tuples will not come."""

    punctuation: Punctuation
    arrival: int
    touched: int
    batch: int


@dataclass(eq=False)
class Covered:
    """Values that ranges in effect have ended: by which streams and when, and whether the output is punctuated.

    A time is None once it is settled, because the output watermark has reached it.
    """

    patterns: Patterns
    ends: dict[int, int | None]
    punctuated: bool
    touched: int


# What is remembered of streams


class OracleStream:
    """What the oracle remembers of one input."""

    def __init__(self, side: int, spec: StreamSpec) -> None:
        self.side, self.spec = side, spec
        self.newest: int | None = None
        self.floor = -math.inf
        self.ended_at: int | None = None
        self.wm_at_start = -math.inf
        self.batch_newest: int | None = None  # the largest time in the current batch
        self.accepted: list[Accepted] = []
        self.stored: list[Accepted] = []
        self.last: dict[Key, int] = {}  # times of the last tuples, and the latest end of their windows
        self.last_end: dict[Key, float] = {}
        self.ranges: list[PatternEnding] = []  # pending
        self.settled = -math.inf  # the latest time of its settled ranges
        self.promises: list[OraclePromise] = []
        self.boundaries: list[tuple[int, Key]] = []  # when each batch first brought a value, and the value
        self.open: set[Key] = set()  # values that clustered() has yet to end

    @property
    def wm(self) -> float:
        """The watermark: the newest time less the lateness, or what a punctuation of the time has raised it to."""
        return self.floor if self.newest is None else max(self.newest - self.spec.lateness_us, self.floor)

    def time_of(self, row: Row) -> int:
        return int(row.values[self.spec.columns.index(self.spec.time)])

    def key_of(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(values[self.spec.columns.index(column)] for column in self.spec.key)

    def ending(self, ts: int, key: Key, in_band: bool = True) -> Punctuation:
        """The punctuation that names one value."""
        values = dict(zip(self.spec.key, key, strict=True))
        patterns = [Constant(values[column]) if column in values else WILDCARD for column in self.spec.columns]
        return Punctuation(ts, tuple(patterns), in_band)

    def meaning(self, p: Punctuation) -> str:
        """What a punctuation means: one of `MEANINGS`."""
        if any(is_empty(pattern) for pattern in p.patterns):
            return "nothing"
        given = {c: q for c, q in zip(self.spec.columns, p.patterns, strict=True) if not isinstance(q, Wildcard)}
        bound = given.get(self.spec.time)
        if not given:
            return "end"
        if len(given) == 1 and isinstance(bound, Range) and bound.low is None and bound.high is not None:
            return "time"
        if not given.keys() <= set(self.spec.key):
            return "promise"
        return "values" if all(isinstance(q, Constant | OneOf) for q in self.key_of(p.patterns)) else "range"

    def note_boundary(self, first: Arrival) -> None:
        """Remember the first tuple of a value in a batch: in a clustered stream, other values before it are over."""
        assert first.row is not None
        self.boundaries.append((first.ts, self.key_of(first.row.values)))

    def left_at(self, key: Key) -> float:
        """When a clustered stream leaves this value: at the first boundary of another one after its last tuple."""
        last = self.last.get(key, math.inf)  # nothing is known of forgotten values
        return min((ts for ts, value in self.boundaries if value != key and ts > last), default=math.inf)

    def window_end(self, row: Row) -> float:
        """The last time at which later tuples can still meet this one, by time windows.

        An empty window ends just before its tuple: an earlier tuple that meets it may come until then.
        """
        window, ts = self.spec.window, self.time_of(row)
        if isinstance(window, TimeWindow):
            return ts + window.span_us
        end = row.values[self.spec.columns.index(window.column)] if isinstance(window, UntilWindow) else None
        return math.inf if end is None else max(end, ts - 1)

    def admits(self, kept: Accepted, later: int) -> bool:
        """Whether the window of a stored tuple admits a tuple at this time, which is not earlier than its own."""
        first = self.spec.window.offset_us if isinstance(self.spec.window, TimeWindow) else 0
        return kept.ts + first <= later <= kept.end

    def forget(self, kept: Accepted) -> None:
        """Remove a tuple from the state."""
        self.stored = [each for each in self.stored if each is not kept]

    def stop_counting(self, key: Key) -> None:
        """Remove all tuples of this value from the count window."""
        for each in self.accepted:
            if each.key == key:
                each.is_counted = False


# What is remembered of a join


class OracleState:
    """What the oracle remembers of a join between batches, and the output of the current batch."""

    def __init__(self, spec: JoinSpec, integer_key: bool | None = None) -> None:
        """`integer_key` says whether the key is one column of integers; None: its values show it."""
        self.spec, self.integer_key = spec, integer_key
        self.streams = tuple(OracleStream(side, stream) for side, stream in enumerate(spec.streams))
        self.values: dict[Key, EndedValue] = {}
        self.covered: list[Covered] = []  # values under ranges in effect
        self.batch = 0
        self.touch = 0  # number of the current object
        self.n_arrivals = 0
        self.now = -math.inf  # the clock of the batch
        self.out = BatchOutput()
        self.output_wm_at_start = -math.inf
