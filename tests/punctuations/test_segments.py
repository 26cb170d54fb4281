"""Segments against a plain table of every value."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.kernels import layout as lay
from punctuated.kernels.ranges import find_first_endings
from punctuated.keys.codec import key_codec
from punctuated.model.pattern import WILDCARD, Range
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.punctuations.in_effect import PatternRanges
from punctuated.punctuations.ordered_ranges import OrderedIndex
from punctuated.punctuations.pending_ranges import GrowingRecords
from punctuated.punctuations.segments import ENDED, CodeLine, Cut, Interval, Segments, ValueLine, no_times, over

DOMAIN = range(30)
INTERVALS = st.tuples(st.integers(0, 24), st.integers(1, 6)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))


@dataclass
class Plain:
    """One value's status."""

    flags: int
    ts: tuple[int, ...]


def interval(low: int, high: int) -> Interval:
    return Interval(Cut(low, False), Cut(high, False))


def told_plainly(table: list[Plain], n: int, side: int, low: int, high: int, ts: int) -> set[int]:
    told = set()
    for value in range(low, high):
        plain = table[value]
        if plain.flags & (ENDED << side):
            continue
        plain.flags |= ENDED << side
        plain.ts = (*plain.ts[:side], ts, *plain.ts[side + 1 :])
        if all(plain.flags & (ENDED << other) for other in range(n)):
            table[value] = Plain(over(n), no_times(n))
            told.add(value)
    return told


def settle_plainly(table: list[Plain], watermark: int) -> None:
    for plain in table:
        plain.ts = tuple(lay.NEVER if ts <= watermark else ts for ts in plain.ts)


def expected_runs(table: list[Plain]) -> list[tuple[int, int, Plain]]:
    runs: list[tuple[int, int, Plain]] = []
    for value, plain in enumerate(table):
        if runs and runs[-1][1] == value - 1 and runs[-1][2] == plain:
            runs[-1] = (runs[-1][0], value, plain)
        elif plain.flags:
            runs.append((value, value, plain))
    return runs


def runs_of(segments: Segments) -> list[tuple[int, int, Plain]]:
    return [(low, high, Plain(flags, tuple(ts))) for low, high, flags, ts, _, _ in segments.records.view.tolist()]


@pytest.mark.parametrize("n", [2, 3, 8])
@given(data=st.data())
def test_segments_are_maximal_runs_of_values_that_stand_alike(n: int, data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.tuples(st.integers(0, n - 1), INTERVALS, st.booleans()), max_size=12 * n))
    segments, table = Segments(n, coded=True), [Plain(0, no_times(n)) for _ in DOMAIN]
    for ts, (side, (low, high), settles) in enumerate(steps):
        told = segments.cover(side, interval(low, high), ts, ts, (0,) * n, emits=True)
        values = {value for each in told for value in range(each.interval.start.position, each.interval.stop.position)}
        assert values == told_plainly(table, n, side, low, high, ts)
        assert all(a.interval.stop.position < b.interval.start.position for a, b in pairwise(told))
        if settles:
            segments.settle(ts - 2)
            settle_plainly(table, ts - 2)
        assert runs_of(segments) == expected_runs(table)
        for value in DOMAIN:
            at = segments.find(value)
            assert (0 if at < 0 else int(segments.records.view[at]["flags"])) == table[value].flags


def test_what_is_told_has_the_later_time() -> None:
    segments = Segments(len(Side), coded=True)
    segments.cover(LEFT, interval(0, 5), 3, 0, (0, 0), emits=True)
    segments.cover(LEFT, interval(5, 9), 7, 0, (0, 0), emits=True)
    (told,) = segments.cover(RIGHT, interval(0, 20), 5, 0, (0, 0), emits=True)
    assert (told.interval, told.ts) == (interval(0, 9), 7)


def test_of_three_streams_the_last_one_to_end_a_value_tells() -> None:
    segments = Segments(3, coded=True)
    assert segments.cover(0, interval(0, 9), 3, 0, (0, 0, 0), emits=True) == []
    assert segments.cover(2, interval(2, 6), 8, 0, (0, 0, 0), emits=True) == []
    (told,) = segments.cover(1, interval(4, 9), 5, 0, (0, 0, 0), emits=True)
    assert (told.interval, told.ts) == (interval(4, 6), 8)


def test_ranges_of_several_columns_are_over_where_all_streams_have_ended_them() -> None:
    in_effect = PatternRanges(3)
    low, high, middle = Range(0, 5), Range(3, 9), Range(4, 7)
    assert in_effect.cover(0, (low, WILDCARD), 3, 0, (0, 0, 0), emits=True) == []
    assert in_effect.cover(1, (WILDCARD, high), 8, 1, (0, 0, 0), emits=True) == []
    assert in_effect.cover(2, (middle, middle), 5, 2, (0, 0, 0), emits=True) == [((Range(4, 5), middle), 8)]
    assert in_effect.cover(2, (Range(5, 5), middle), 6, 3, (0, 0, 0), emits=True) == []
    found = in_effect.locate(pa.table({"a": [4, 5, 6, 9], "b": [4, 1, 4, 8]}))
    assert found["flags"].tolist() == [over(3) | ENDED, ENDED, ENDED << 1 | ENDED << 2, ENDED << 1]
    never = lay.NEVER
    assert found["ts"][1:, :3].tolist() == [[3, never, never], [never, 8, 5], [never, 8, never]]


def test_a_settled_range_has_the_time_that_all_settled_ones_share() -> None:
    segments = Segments(len(Side), coded=True)
    segments.cover(LEFT, interval(0, 5), 3, 0, (0, 0), emits=True)
    segments.settle(10)
    (told,) = segments.cover(RIGHT, interval(0, 5), 1, 0, (8, 0), emits=True)
    assert told.ts == 8


@pytest.mark.parametrize("n", [1, 10, 100])
def test_ranges_side_by_side_become_one_segment(n: int) -> None:
    segments = Segments(len(Side), coded=True)
    for i in range(n):
        segments.cover(LEFT, interval(4 * i, 4 * i + 4), i, i, (0, 0), emits=True)
    assert len(segments) == n
    assert [each.interval for each in segments.settle(n)] == [interval(4 * i, 4 * i + 4) for i in range(n)]
    assert len(segments) == 1
    assert segments.interval(0) == interval(0, 4 * n)


FLOATS = CodeLine(key_codec([pa.float64()]))


@pytest.mark.parametrize(
    "bounds", [Range(0.0, 10.0, True, False), Range(0.5, None), Range(None, 2.5), Range(0.0, 1.0, False)]
)
@pytest.mark.parametrize("line", [FLOATS, ValueLine()])
def test_bounds_are_written_as_they_were_given(line: Any, bounds: Range) -> None:
    found = line.interval((bounds,))
    assert line.patterns(found) == (bounds,)


def test_floats_that_touch_are_neighbours() -> None:
    first, second = (FLOATS.interval((bounds,)) for bounds in (Range(0.0, 1.0, True, False), Range(1.0, 2.0)))
    assert first is not None and second is not None
    assert first.stop.position == second.start.position
    assert FLOATS.patterns(Interval(first.start, second.stop)) == (Range(0.0, 2.0),)


@given(st.lists(st.tuples(INTERVALS, st.integers(0, 9)), max_size=12), st.lists(st.integers(0, 29), max_size=20))
def test_first_endings_of_codes(ranges: list[tuple[tuple[int, int], int]], codes: list[int]) -> None:
    ranges.sort(key=lambda each: each[1])
    pending = np.array([(i, ts, 0, low, high - 1) for i, ((low, high), ts) in enumerate(ranges)], lay.PENDING_RANGE)
    ascending = np.array(sorted(codes), np.int64)
    earliest = np.full(len(codes), lay.FOREVER, np.int64)
    find_first_endings(pending, ascending, np.empty(len(codes) + 1, np.int64), earliest)
    times = [[ts for (low, high), ts in ranges if low <= code < high] for code in sorted(codes)]
    assert earliest.tolist() == [min(each, default=lay.FOREVER) for each in times]


@given(st.lists(st.integers(0, 5_000), max_size=8), st.integers(-5, 5_000), st.integers(0, 2_000))
def test_the_index_finds_what_has_come_since(sizes: list[int], low: int, width: int) -> None:
    values = np.zeros(sum(sizes) + 1, lay.value_type(2))
    values["code"] = np.random.default_rng(len(sizes)).permutation(values.size)
    common = np.zeros(1, lay.COMMON)
    arrays: Any = type("Arrays", (), {"values": values, "common": common})
    index = OrderedIndex()
    for size in sizes:
        common["n_values"] += size
        known = values["code"][: int(common["n_values"][0])]
        wanted = np.sort(known[(known >= low) & (known <= low + width)])
        assert values["code"][index.find(arrays, low, low + width)].tolist() == wanted.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4), st.lists(st.integers(0, 99), max_size=5)), max_size=30)
)
def test_records_are_exchanged_as_a_list_would_be(steps: list[tuple[int, int, list[int]]]) -> None:
    plain, records = list[int](), GrowingRecords(np.dtype([("n", "i8")]))
    for at, width, fresh in steps:
        start, stop = min(at, len(plain)), min(at + width, len(plain))
        plain[start:stop] = fresh
        records.exchange(start, stop, np.array([(n,) for n in fresh], records.dtype))
        assert records.view["n"].tolist() == plain
