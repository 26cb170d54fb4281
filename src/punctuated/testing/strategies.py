"""Hypothesis strategies for joins of two punctuated streams.

`cases` are arbitrary: late tuples, broken promises and clocks that run ahead are frequent. `honest_cases` keep their
bounds and promises, however they are cut into batches. Domains are small, so that keys meet, windows end, and equal
times are frequent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from punctuated.model.algorithm import Algorithm, choose_algorithm
from punctuated.model.batch import Row
from punctuated.model.pattern import EMPTY, WILDCARD, Constant, OneOf, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import (
    DEFAULT_MAX_PUNCTUATIONS,
    JOINS_OF_TWO,
    LEFT,
    RIGHT,
    JoinSpec,
    JoinType,
    OnViolation,
    Side,
    StreamSpec,
)
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow, Window
from punctuated.testing.reference_patterns import matches_all

COLUMNS = {LEFT: ("k", "ts", "v", "f"), RIGHT: ("k", "ts", "w", "f")}
LARGEST_KEY, LARGEST_TIME = 6, 40
_ENDS_AFTER = (-2, 0, 3, 9)  # by payload: how long after a tuple its window ends, where windows end by a column
ALGORITHMS: tuple[Algorithm, ...] = (
    choose_algorithm("pwjoin"),
    choose_algorithm("pwjoin", "regular"),
    choose_algorithm("pwjoin", "none"),
    choose_algorithm("wjoin"),
    choose_algorithm("pjoin"),
    choose_algorithm("pjoin", "own-state"),
    choose_algorithm("pjoin", "none"),
    choose_algorithm("shj"),
)

Object = Row | Punctuation
Batch = tuple[list[Object], ...]  # one list for each stream


@dataclass(frozen=True)
class Case:
    """A join and its batches."""

    spec: JoinSpec
    batches: list[Batch]


@dataclass(frozen=True)
class HonestCase:
    """A join and a history of all streams in the order of arrival; nothing in it is late or breaks a promise."""

    spec: JoinSpec
    history: list[tuple[int, Object]]
    in_order: bool = field(default=False)  # arrival is the order of time, across all streams

    def cut(self, cuts: Sequence[int]) -> list[Batch]:
        """The history as batches, cut before the given positions."""
        edges = [0, *sorted(cut for cut in cuts if 0 < cut < len(self.history)), len(self.history)]
        return [self._batch(self.history[a:b]) for a, b in pairwise(edges)]

    def without_punctuations(self) -> "HonestCase":
        """This case without its punctuations, with the same tuples."""
        streams = tuple(
            replace(stream, flag=None, unique=False, clustered=False, punctuated=False) for stream in self.spec.streams
        )
        history: list[tuple[int, Object]] = [(side, each) for side, each in self.history if isinstance(each, Row)]
        return replace(self, spec=replace(self.spec, streams=streams), history=history)

    def is_under_a_range(self, key: Any) -> bool:
        """Whether a range of some stream matches this key; the cuts decide which such keys are punctuated by name."""
        ranges = [each.patterns[0] for _, each in self.history if isinstance(each, Punctuation)]
        return any(isinstance(pattern, Range) and matches_all((pattern,), (key,)) for pattern in ranges)

    def _batch(self, objects: Sequence[tuple[int, Object]]) -> Batch:
        return tuple([each for s, each in objects if s == side] for side in range(len(self.spec.streams)))


# Parts


def seldom() -> st.SearchStrategy[bool]:
    """True once in a while."""
    return st.sampled_from([False, False, False, False, True])


def windows(side: Side, counts: bool = True) -> st.SearchStrategy[Window]:
    """Every kind of window; count windows only if `counts`."""
    bounds = st.tuples(st.integers(0, 8), st.integers(0, 7))
    kinds: list[st.SearchStrategy[Window]] = [
        st.integers(0, 15).map(TimeWindow),
        st.integers(0, 6).map(TimeWindow),
        bounds.map(lambda drawn: TimeWindow(span_us=drawn[0] + drawn[1], offset_us=drawn[0])),
        st.none(),
        st.just(UntilWindow(COLUMNS[side][2])),
    ]
    if counts:
        kinds.append(st.builds(CountWindow, n=st.integers(1, 4), per_key=st.booleans()))
    return st.one_of(kinds)


def with_end(spec: StreamSpec, each: Object) -> Object:
    """An object whose payload is the end of its window, if windows end by that column; else the object as it is."""
    if isinstance(each, Punctuation) or not isinstance(spec.window, UntilWindow):
        return each
    key, ts, payload, flag = each.values
    return Row((key, ts, None if payload is None else ts + _ENDS_AFTER[payload], flag))


def keys(nulls: bool = True) -> st.SearchStrategy[int | None]:
    """Small integers, and a null now and then."""
    drawn = st.integers(0, LARGEST_KEY + 1 if nulls else LARGEST_KEY)
    return drawn.map(lambda key: None if key > LARGEST_KEY else key)


def payloads() -> st.SearchStrategy[int | None]:
    """Small integers or null."""
    return st.sampled_from([None, 0, 1, 2, 3])


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    """Intervals of keys, sometimes open to infinity at one end; their bounds never make them empty."""
    low = draw(st.none() | st.integers(0, LARGEST_KEY))
    highs = st.integers(0 if low is None else low + 1, LARGEST_KEY + 1)
    high = draw(highs if low is None else st.none() | highs)
    return Range(
        low,
        high,
        low_closed=low is None or draw(st.booleans()),
        high_closed=high is None or draw(st.booleans()),
    )


def tiles() -> st.SearchStrategy[Range]:
    """Ranges that follow each other without a gap or an overlap."""
    return st.sampled_from([Range(low, low + 2, high_closed=False) for low in range(0, LARGEST_KEY + 1, 2)])


@st.composite
def range_endings(draw: st.DrawFn, batches: Sequence[int]) -> list[tuple[int, Punctuation]]:
    """Endings of ranges, each with the number of its batch; so many that ranges of two streams are likely to meet.

    `batches` has a time for each batch, which is not far from the times in that batch.
    """
    drawn = draw(st.lists(st.tuples(st.integers(0, len(batches) - 1), tiles() | ranges()), min_size=2, max_size=5))
    return [
        (at, Punctuation(batches[at] + draw(st.integers(0, 6)), (pattern, WILDCARD, WILDCARD, WILDCARD)))
        for at, pattern in drawn
    ]


def lists() -> st.SearchStrategy[OneOf]:
    """Enumerations of two or three keys."""
    drawn = st.lists(st.integers(0, LARGEST_KEY), min_size=2, max_size=3, unique=True)
    return drawn.map(lambda values: OneOf(tuple(sorted(values))))


def constants() -> st.SearchStrategy[Constant]:
    """Single keys."""
    return st.integers(0, LARGEST_KEY).map(Constant)


def key_patterns(with_ranges: bool = True) -> st.SearchStrategy[Pattern]:
    """What may end values: constants most of all."""
    kinds: list[st.SearchStrategy[Pattern]] = [constants(), constants(), constants(), lists()]
    return st.one_of(*kinds, ranges(), ranges()) if with_ranges else st.one_of(kinds)


def time_patterns(around: int) -> st.SearchStrategy[Range]:
    """`ts <= t` or `ts < t`, with `t` not far from a given time."""
    bound = st.integers(max(0, around - 10), around + 3)
    return st.builds(Range, low=st.none(), high=bound, low_closed=st.just(True), high_closed=st.booleans())


@st.composite
def pattern_rows(draw: st.DrawFn, around: int, with_ranges: bool) -> tuple[Pattern, ...]:
    """The patterns of an in-band punctuation, of every kind."""
    kind = draw(
        st.sampled_from(
            ["key"] * 12 + ["time"] * 4 + ["payload", "payload", "key and payload", "key and time"] + ["empty", "end"]
        )
    )
    key: Pattern = WILDCARD
    time: Pattern = WILDCARD
    payload: Pattern = WILDCARD
    if kind.startswith("key"):
        key = draw(key_patterns(with_ranges))
    if kind.endswith("time"):
        time = draw(time_patterns(around))
    if kind.endswith("payload"):
        payload = draw(st.integers(0, 3).map(Constant))
    if kind == "empty":
        key = EMPTY
    return key, time, payload, WILDCARD


@st.composite
def stream_specs(draw: st.DrawFn, side: Side, policies: Sequence[OnViolation]) -> StreamSpec:
    """A stream with any window, bounds and constraints; whether it is punctuated is set later."""
    return StreamSpec(
        name="AB"[side],
        columns=COLUMNS[side],
        key=("k",),
        time="ts",
        window=draw(windows(side)),
        lateness_us=draw(st.sampled_from([0, 0, 1, 3, 5, 8])),
        max_ahead_us=draw(st.none() | st.none() | st.integers(2, 15)),
        on_violation=draw(st.sampled_from(policies)),
        flag="f" if draw(st.booleans()) else None,
        unique=draw(seldom()),
        clustered=draw(seldom()),
        order=draw(st.sampled_from([None, None, None, COLUMNS[side][2]])),
    )


# Arbitrary streams


@st.composite
def objects(
    draw: st.DrawFn,
    around: int,
    with_ranges: bool,
    with_punctuations: bool,
    announced: st.SearchStrategy[Pattern] | None = None,
) -> Object:
    """A tuple most of the time, else an in-band punctuation or an ending, not far from a given time."""
    ts = draw(st.integers(max(0, around - 6), min(LARGEST_TIME, around + 8)))
    kind = draw(st.sampled_from(["tuple"] * 8 + ["row", "row", "row", "ending"] * with_punctuations))
    if kind == "row":
        return Punctuation(ts, draw(pattern_rows(ts, with_ranges)))
    if kind == "ending":
        later = draw(st.sampled_from([0, 0, 2, 8]))
        key = draw(announced if announced is not None else constants())
        return Punctuation(ts + later, (key, WILDCARD, WILDCARD, WILDCARD), in_band=False)
    return Row((draw(keys()), ts, draw(payloads()), draw(seldom())))


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    types: Sequence[JoinType] = JOINS_OF_TWO,
    algorithms: Sequence[Algorithm] = ALGORITHMS,
    policies: Sequence[OnViolation] = (OnViolation.REJECT, OnViolation.ACCEPT),
    with_ranges: bool = True,
    announced: st.SearchStrategy[Pattern] | None = None,
    small_memory: bool = False,
    max_batches: int = 5,
    max_objects: int = 9,
) -> Case:
    """Any join over any two streams; `max_objects` is per batch and stream.

    `announced` are the endings that may be announced apart from a stream: by default single keys. With `small_memory`
    punctuations are soon forgotten.
    """
    n_batches = draw(st.integers(1, max_batches))
    by_ranges = with_ranges and draw(st.booleans())
    punctuated = draw(st.sampled_from([(True, True), (True, True), (True, False), (False, True), (False, False)]))
    pace = draw(st.integers(2, 9))
    batches: list[Batch] = []
    for number in range(n_batches):
        left, right = (
            draw(st.lists(objects(number * pace + 4, with_ranges, with_punctuations, announced), max_size=max_objects))
            for with_punctuations in punctuated
        )
        batches.append((left, right))
    for side in Side if by_ranges else ():
        for at, ending in draw(range_endings([number * pace + 2 for number in range(n_batches)])):
            batches[at][side].append(ending)
    left_spec, right_spec = (
        declared_as_punctuated(draw(stream_specs(side, policies)), [each for batch in batches for each in batch[side]])
        for side in Side
    )
    spec = JoinSpec(
        (left_spec, right_spec),
        how=draw(st.sampled_from(types)),
        algorithm=draw(st.sampled_from(algorithms)),
        purge_threshold=draw(st.just(1) | st.integers(1, 4)),
        max_punctuations=draw(st.integers(1, 5)) if small_memory else DEFAULT_MAX_PUNCTUATIONS,
    )
    return Case(spec, _with_ends(spec, batches))


def _with_ends(spec: JoinSpec, batches: Sequence[Batch]) -> list[Batch]:
    left, right = spec.streams
    return [
        ([with_end(left, each) for each in ours], [with_end(right, each) for each in other]) for ours, other in batches
    ]


def declared_as_punctuated(spec: StreamSpec, stream: Sequence[Object]) -> StreamSpec:
    """The declaration of a stream with these objects, which says whether there are punctuations among them."""
    has_any = any(isinstance(each, Punctuation) for each in stream)
    return replace(spec, punctuated=has_any or spec.flag is not None or spec.unique or spec.clustered)


@st.composite
def window_cases(
    draw: st.DrawFn,
    *,
    types: Sequence[JoinType] = JOINS_OF_TWO,
    keyed: bool = True,
    max_batches: int = 5,
    max_objects: int = 12,
) -> Case:
    """Joins by windows only, with or without a key, of streams without punctuations."""
    pace = draw(st.integers(2, 9))
    batches: list[Batch] = []
    for number in range(draw(st.integers(1, max_batches))):
        left, right = (draw(st.lists(objects(number * pace + 4, False, False), max_size=max_objects)) for _ in range(2))
        batches.append((left, right))
    left_spec, right_spec = (draw(_window_spec(side, keyed)) for side in Side)
    structures = draw(st.sampled_from("NHBT" if keyed else "NBT")), draw(st.sampled_from("NHBT" if keyed else "NBT"))
    spec = JoinSpec(
        (left_spec, right_spec),
        how=draw(st.sampled_from(types)),
        algorithm=choose_algorithm("".join(structures)),
        node_size=draw(st.sampled_from([2, 3, 4, 100])),
        bucket_size=draw(st.sampled_from([1, 2, 10])),
    )
    return Case(spec, _with_ends(spec, batches))


@st.composite
def _window_spec(draw: st.DrawFn, side: Side, keyed: bool) -> StreamSpec:
    spec = draw(stream_specs(side, (OnViolation.REJECT,)))
    window = draw(windows(side, counts=False) | st.builds(CountWindow, n=st.integers(1, 6), per_key=st.just(False)))
    return replace(spec, key=("k",) if keyed else (), window=window, flag=None, unique=False, clustered=False)


# Honest streams


@dataclass
class Promises:
    """What an honest stream has promised so far, in the order of time."""

    spec: StreamSpec
    made: list[Punctuation] = field(default_factory=list)
    closed: set[Any] = field(default_factory=set)
    seen: list[Any] = field(default_factory=list)
    ended: bool = False

    def refuses(self, each: Object) -> bool:
        """Whether this object would break a promise of the stream."""
        return self.ended or (isinstance(each, Row) and not self._allows(each))

    def _allows(self, row: Row) -> bool:
        key, ts = row.values[0], row.values[1]
        if key is not None and key in self.closed:
            return False
        if self.spec.unique and key is not None and key in self.seen:
            return False
        if self.spec.clustered and key in self.seen and self.seen[-1] != key and key is not None:
            return False
        return not any(p.ts + (not p.in_band) <= ts and matches_all(p.patterns, row.values) for p in self.made)

    def announced(self) -> list[Punctuation]:
        """The endings that were announced apart from the stream."""
        return [p for p in self.made if not p.in_band]

    def note(self, each: Object) -> None:
        """Remember what the stream promises with this object."""
        if isinstance(each, Punctuation):
            self.made.append(each)
            self.ended = self.ended or ends_stream(each)
            return
        self.seen.append(each.values[0])
        if self.spec.flag is not None and each.values[3]:
            self.closed.add(each.values[0])


@st.composite
def honest_cases(
    draw: st.DrawFn,
    *,
    types: Sequence[JoinType] = JOINS_OF_TWO,
    algorithms: Sequence[Algorithm] = ALGORITHMS,
    disorder: bool = True,
    counts: bool = True,
    with_ranges: bool = True,
    prompt: bool = False,
    with_ends: bool = True,
    small_memory: bool = False,
    max_objects: int = 24,
) -> HonestCase:
    """Streams that keep their bounds and promises under every cut.

    All times are distinct, except for tuples that come twice at exactly the time of an announced ending. With
    `disorder`, a stream's objects may arrive up to its lateness after their turn, and one stream may lag behind the
    other, unless there is a count window. With `prompt`, no ending waits for its effect: there is no lateness, and
    nothing is announced apart from its stream.
    """
    left, right = draw(_honest_spec(LEFT, counts, prompt)), draw(_honest_spec(RIGHT, counts, prompt))
    counted = any(isinstance(spec.window, CountWindow) for spec in (left, right))
    disorder = disorder and not counted and draw(st.booleans())
    promises = Promises(left), Promises(right)
    lag = draw(st.sampled_from([0, 0, 3, 12])) if disorder else 0
    arrivals: list[tuple[int, int, Side, Object]] = []
    by_ranges = with_ranges and draw(st.booleans())
    ts = 0
    n_objects = draw(st.integers(max_objects // 2 if by_ranges else 0, max_objects))
    for number in range(n_objects):
        to_announced = [p.ts - ts for each in promises for p in each.announced() if p.ts > ts]
        ts += draw(st.sampled_from([1, 1, 1, 2, 3, 6, *to_announced]))
        side = draw(st.sampled_from(Side))
        ours = promises[side]
        ending = [p for p in ours.announced() if p.ts == ts]
        tiled = by_ranges and 2 * number > n_objects
        each = draw(honest_objects(ts, with_ranges, prompt, tiled, [p.patterns[0] for p in ending]))
        each = with_end(ours.spec, each)
        for _ in range(draw(st.integers(1, 1 if counted or not ending else 2))):
            if ours.refuses(each) or (ends_stream(each) and not with_ends):
                continue
            ours.note(each)
            slack = ours.spec.lateness_us if disorder else 0
            delay = slack if ends_stream(each) else draw(st.integers(0, slack))
            arrivals.append((ts + delay + lag * side, ts, side, each))
    history = [(side, each) for _, _, side, each in sorted(arrivals, key=lambda arrival: arrival[:2])]
    left, right = (
        declared_as_punctuated(spec, [each for s, each in history if s is side])
        for side, spec in ((LEFT, left), (RIGHT, right))
    )
    spec = JoinSpec(
        (left, right),
        how=draw(st.sampled_from(types)),
        algorithm=draw(st.sampled_from(algorithms)),
        purge_threshold=draw(st.just(1) | st.integers(1, 4)),
        max_punctuations=draw(st.integers(1, 5)) if small_memory else DEFAULT_MAX_PUNCTUATIONS,
    )
    return HonestCase(spec, with_true_bounds(history), in_order=not disorder)


@st.composite
def _honest_spec(draw: st.DrawFn, side: Side, counts: bool, prompt: bool) -> StreamSpec:
    spec = draw(stream_specs(side, (OnViolation.REJECT, OnViolation.ACCEPT, OnViolation.FAIL)))
    spec = replace(spec, window=draw(windows(side, counts)), max_ahead_us=None)
    return replace(spec, lateness_us=0) if prompt or isinstance(spec.window, CountWindow) else spec


@st.composite
def honest_objects(
    draw: st.DrawFn, ts: int, with_ranges: bool, prompt: bool, by_ranges: bool, ending: Sequence[Pattern]
) -> Object:
    """An object at this time; the keys in `ending` are announced to end now, and may come for the last time."""
    kinds = ["tuple"] * 8 + ["row", "row", "row" if prompt else "ending"] + ["range"] * (12 * by_ranges)
    kind = draw(st.sampled_from(kinds))
    last_ones = [pattern.value for pattern in ending if isinstance(pattern, Constant)]
    comes_again = draw(st.booleans())
    if last_ones and comes_again:
        return Row((draw(st.sampled_from(last_ones)), ts, draw(payloads()), draw(seldom())))
    if kind == "range":
        return Punctuation(ts, (draw(tiles() | ranges()), WILDCARD, WILDCARD, WILDCARD))
    if kind == "row":
        return Punctuation(ts, draw(pattern_rows(ts, with_ranges)))
    if kind == "ending":
        return Punctuation(
            ts + draw(st.integers(0, 12)), (draw(constants()), WILDCARD, WILDCARD, WILDCARD), in_band=False
        )
    return Row((draw(keys() | st.integers(0, 2)), ts, draw(payloads()), draw(seldom())))


def ends_stream(each: Object) -> bool:
    """Whether this is the end of its stream."""
    return isinstance(each, Punctuation) and all(pattern == WILDCARD for pattern in each.patterns)


def with_true_bounds(history: Sequence[tuple[int, Object]]) -> list[tuple[int, Object]]:
    """The history with every promise `ts <= t` lowered until all tuples keep it that are later, in it or in time."""
    true = []
    for position, (side, each) in enumerate(history):
        if isinstance(each, Punctuation) and isinstance(each.patterns[1], Range):
            rows = [(at, row.values[1]) for at, (s, row) in enumerate(history) if s == side and isinstance(row, Row)]
            later = [ts for at, ts in rows if at > position or ts > each.ts]
            bound = replace(each.patterns[1], high=min([each.patterns[1].high, *(ts - 1 for ts in later)]))
            each = replace(each, patterns=(each.patterns[0], bound, *each.patterns[2:]))
        true.append((side, each))
    return true
