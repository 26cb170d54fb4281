"""Hypothesis strategies for joins of two to six streams, made of the parts of `strategies`.

There are few keys, so that whole results are frequent. Reaches have every form: one window for all, a window per pair,
some pairs missing, windows of the streams, paths in one direction or both.
"""

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Any

from hypothesis import strategies as st

from punctuated.model.algorithm import Algorithm, choose_algorithm
from punctuated.model.batch import Row
from punctuated.model.pattern import Constant, OneOf
from punctuated.model.punctuation import Punctuation
from punctuated.model.reach import Reach, reach_along, reach_by_windows, reach_within, reversed_reach
from punctuated.model.spec import DEFAULT_MAX_PUNCTUATIONS, LEFT, JoinSpec, OnViolation, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.testing.strategies import (
    Batch,
    Case,
    HonestCase,
    Object,
    Promises,
    declared_as_punctuated,
    ends_stream,
    honest_objects,
    objects,
    range_endings,
    stream_specs,
    with_true_bounds,
)

MOST_STREAMS = 6
PROPAGATIONS: tuple[Algorithm, ...] = tuple(choose_algorithm("pwjoin", rule) for rule in ("early", "regular", "none"))


def spans(longest: int = 15) -> st.SearchStrategy[int]:
    """Lengths of windows."""
    return st.integers(0, longest)


@st.composite
def reaches(draw: st.DrawFn, names: Sequence[str]) -> tuple[Reach, ...]:
    """How far apart members of a result may be, in every form."""
    n = len(names)
    kind = draw(st.sampled_from(["one", "pairs", "some pairs", "windows", "path", "both ways"]))
    if kind == "one":
        return (reach_within(names, draw(spans())),)
    if kind == "windows":
        windows = draw(st.lists(st.none() | spans().map(TimeWindow), min_size=n, max_size=n))
        return (reach_by_windows(names, windows),)
    if kind in ("path", "both ways"):
        forth = reach_along(names, draw(st.lists(spans(8), min_size=n - 1, max_size=n - 1)))
        return (forth,) if kind == "path" else (forth, reversed_reach(forth))
    tree = [(names[draw(st.integers(0, i - 1))], names[i]) for i in range(1, n)]  # connects all streams
    others = [(names[i], names[j]) for j in range(n) for i in range(j) if (names[i], names[j]) not in tree]
    more = others if kind == "pairs" else draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    return (reach_within(names, {pair: draw(spans()) for pair in (*tree, *more)}),)


def with_few_keys(each: Object, n_keys: int) -> Object:
    """An object with its keys reduced to those below `n_keys`; ranges stay as they are."""
    if isinstance(each, Row):
        key, *rest = each.values
        return Row((None if key is None else key % n_keys, *rest))
    key = each.patterns[0]
    if isinstance(key, Constant):
        key = Constant(key.value % n_keys)
    elif isinstance(key, OneOf):
        key = OneOf(tuple(sorted({value % n_keys for value in key.values})))
    return Punctuation(each.ts, (key, *each.patterns[1:]), each.in_band)


def _streams(draw: st.DrawFn, n: int, policies: Sequence[OnViolation], **settings: Any) -> list[StreamSpec]:
    drawn = [draw(stream_specs(LEFT, policies)) for _ in range(n)]
    return [replace(each, name=ascii_uppercase[i], window=None, **settings) for i, each in enumerate(drawn)]


@st.composite
def multiway_cases(
    draw: st.DrawFn,
    *,
    sizes: Sequence[int] = (2, 3, 3, 4, 5, 6),
    algorithms: Sequence[Algorithm] = PROPAGATIONS,
    policies: Sequence[OnViolation] = (OnViolation.REJECT, OnViolation.ACCEPT),
    with_ranges: bool = True,
    small_memory: bool = False,
    max_batches: int = 4,
) -> Case:
    """Any join over any streams: late tuples, broken promises and clocks that run ahead are frequent."""
    n = draw(st.sampled_from(sizes))
    n_keys, n_batches, pace = draw(st.integers(1, 3)), draw(st.integers(1, max_batches)), draw(st.integers(2, 9))
    punctuated = draw(st.lists(st.sampled_from([True, True, False]), min_size=n, max_size=n))
    batches: list[Batch] = []
    for number in range(n_batches):
        drawn = [draw(st.lists(objects(number * pace + 4, with_ranges, each), max_size=18 // n)) for each in punctuated]
        batches.append(tuple([with_few_keys(each, n_keys) for each in stream] for stream in drawn))
    for side in range(n) if with_ranges and draw(st.booleans()) else ():
        for at, ending in draw(range_endings([number * pace + 2 for number in range(n_batches)])):
            batches[at][side].append(ending)
    streams = [
        declared_as_punctuated(stream, [each for batch in batches for each in batch[side]])
        for side, stream in enumerate(_streams(draw, n, policies))
    ]
    return Case(_spec(draw, streams, algorithms, small_memory), batches)


def _spec(
    draw: st.DrawFn, streams: Sequence[StreamSpec], algorithms: Sequence[Algorithm], small_memory: bool
) -> JoinSpec:
    return JoinSpec(
        tuple(streams),
        algorithm=draw(st.sampled_from(algorithms)),
        max_punctuations=draw(st.integers(1, 5)) if small_memory else DEFAULT_MAX_PUNCTUATIONS,
        reaches=draw(reaches([stream.name for stream in streams])),
    )


@st.composite
def honest_multiway_cases(
    draw: st.DrawFn,
    *,
    sizes: Sequence[int] = (2, 3, 3, 4, 5, 6),
    algorithms: Sequence[Algorithm] = PROPAGATIONS,
    disorder: bool = True,
    with_ranges: bool = True,
    prompt: bool = False,
    max_objects: int = 24,
) -> HonestCase:
    """Streams that keep their bounds and promises under every cut; see `strategies.honest_cases`."""
    n, n_keys = draw(st.sampled_from(sizes)), draw(st.integers(1, 3))
    bounds = {"max_ahead_us": None, **({"lateness_us": 0} if prompt else {})}
    streams = _streams(draw, n, tuple(OnViolation), **bounds)
    promises = [Promises(stream) for stream in streams]
    lags = [draw(st.sampled_from([0, 0, 3, 12])) if disorder else 0 for _ in streams]
    arrivals: list[tuple[int, int, int, Object]] = []
    ts = 0
    for _ in range(draw(st.integers(0, max_objects))):
        ts += draw(st.sampled_from([1, 1, 1, 2, 3, 6]))
        side = draw(st.integers(0, n - 1))
        each, ours = with_few_keys(draw(honest_objects(ts, with_ranges, prompt, False, [])), n_keys), promises[side]
        if ours.refuses(each):
            continue
        ours.note(each)
        slack = ours.spec.lateness_us if disorder else 0
        delay = slack if ends_stream(each) else draw(st.integers(0, slack))
        arrivals.append((ts + delay + lags[side], ts, side, each))
    history = [(side, each) for _, _, side, each in sorted(arrivals, key=lambda arrival: arrival[:2])]
    brought = [[each for s, each in history if s == side] for side in range(n)]
    streams = [declared_as_punctuated(*each) for each in zip(streams, brought, strict=True)]
    return HonestCase(_spec(draw, streams, algorithms, False), with_true_bounds(history), in_order=not disorder)
