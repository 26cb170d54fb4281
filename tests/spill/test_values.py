"""Joins with a part of their state on disk: equal to the oracle, whatever the memory, and near its limit."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driver_harness import TEXTS, bound_join, new_driver, run
from journaled import journaled
from multiway_harness import check as check_many
from multiway_harness import new_driver as new_driver_of_many
from multiway_harness import run as run_many
from punctuated.errors import ScratchError, SnapshotError
from punctuated.expressions.builders import left, right
from punctuated.model.batch import Row, StreamBatch
from punctuated.model.memory import Allowance, Memory
from punctuated.model.pattern import WILDCARD, Constant, OneOf, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JOINS_OF_TWO, LEFT, RIGHT, JoinSpec, JoinType, StreamSpec
from punctuated.model.window import CountWindow, TimeWindow
from punctuated.operator.driver import JoinDriver
from punctuated.snapshot.journal import Journal, restore
from punctuated.spill import value_blocks
from punctuated.spill.values import SpilledValues
from punctuated.storage.scratch import Scratch
from punctuated.testing.checks import DOMAIN, Observed, check_equals_oracle, expected
from punctuated.testing.multiway_strategies import multiway_cases
from punctuated.testing.strategies import COLUMNS, Batch, Case, Object, cases, key_patterns
from punctuated.testing.tables import as_batch, stream_schema

MEMORIES = st.sampled_from([0.01, 0.1, 0.5, 1.0])  # of the largest state
BUT = ("stored", "purged", "invalidated")  # a tuple on disk that is out of its window may be counted for longer
FEWER = settings(max_examples=settings().max_examples // 4)  # they are many, and each runs the oracle twice


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scratch, "table_bytes", 150)  # three tuples or so
    monkeypatch.setattr(value_blocks, "_MERGED", 2)


def limited(spec: JoinSpec, share: float, largest: int) -> JoinSpec:
    return replace(spec, memory=Memory(tuples=max(1, int(share * largest))))


def of_two(case: Case, share: float, domain: Sequence[Any] = DOMAIN) -> JoinSpec:
    assume(not any(isinstance(each.window, CountWindow) and not each.window.per_key for each in case.spec.streams))
    return limited(case.spec, share, max(sum(each.stored) for each in expected(case.spec, case.batches, domain=domain)))


def stays_near_its_limit(driver: JoinDriver) -> JoinDriver:
    """Beyond it are only values that cannot go: those of clusters and of the purge queue."""
    memory = driver.spec.memory
    assert memory is not None and memory.tuples is not None
    arrays = driver.state.arrays
    values = arrays.values[: driver.state.n_values]
    if not any(stream.clustered or isinstance(stream.window, CountWindow) for stream in driver.spec.streams):
        queued = int(driver.state.common["n_queued"][0])
        assert queued or driver.state.sides["live"].sum() <= memory.tuples, values
    return driver


def check(case: Case, spec: JoinSpec, driver: JoinDriver | None = None) -> None:
    def spilling(spec_: JoinSpec, batches: Sequence[Batch]) -> list[Observed]:
        return run(spec, batches, driver or new_driver(spec), between=stays_near_its_limit)

    check_equals_oracle(spilling, case.spec, case.batches, but=BUT)


@FEWER
@given(cases(), MEMORIES)
def test_equals_the_oracle_batch_by_batch(case: Case, share: float) -> None:
    check(case, of_two(case, share))


@FEWER
@given(cases(announced=key_patterns()), MEMORIES)
def test_equals_the_oracle_where_ranges_are_announced(case: Case, share: float) -> None:
    check(case, of_two(case, share))


@FEWER
@given(cases(small_memory=True), MEMORIES)
def test_equals_the_oracle_where_punctuations_are_soon_forgotten(case: Case, share: float) -> None:
    check(case, of_two(case, share))


@pytest.mark.parametrize("how", JOINS_OF_TWO)
@FEWER
@given(data=st.data())
def test_equals_the_oracle_for_every_join_type(how: JoinType, data: st.DataObject) -> None:
    case = data.draw(cases(types=[how], max_objects=14))
    check(case, of_two(case, data.draw(MEMORIES)))


@pytest.mark.parametrize("how", [JoinType.INNER, JoinType.FULL, JoinType.ANTI])
@FEWER
@given(data=st.data())
def test_equals_the_oracle_where_all_goes_to_disk_between_batches(how: JoinType, data: st.DataObject) -> None:
    """So values go back to where they came from, and what has come to them lies elsewhere."""
    case = data.draw(cases(types=[how], announced=data.draw(st.sampled_from([None, key_patterns()]))))
    spec = of_two(case, 1.0)
    driver = new_driver(spec)
    assert isinstance(driver.spill, SpilledValues)
    working = Memory(tuples=data.draw(st.sampled_from([3, 9, 99])))
    driver.spill._allowed = Allowance(working, Memory(tuples=1))
    check(case, spec, driver)


def results(driver: JoinDriver, batch: list[StreamBatch]) -> list[str]:
    return sorted(repr(row) for table in driver.process(*batch).results for row in table.to_pylist())


def test_the_last_tuple_of_a_value_counts_until_its_own_stream_is_beyond_it() -> None:
    streams = tuple(
        StreamSpec(name, columns, ("k",), "ts", TimeWindow(0), punctuated=name == "A")
        for name, columns in zip("AB", COLUMNS.values(), strict=True)
    )
    spec = JoinSpec(streams, memory=Memory(tuples=1))
    ended = Punctuation(10, (Range(0, 2, high_closed=False), WILDCARD, WILDCARD, WILDCARD))

    def came(key: int, ts: int) -> Row:
        return Row((key, ts, None, False))

    batches: list[Batch] = [([came(1, 4), came(0, 10)], []), ([], [came(1, 15), came(0, 15)]), ([ended], [])]
    found, wanted = run(spec, batches), expected(replace(spec, memory=None), batches)
    assert [each.punctuations for each in found] == [each.punctuations for each in wanted]
    assert ((0,), None, 11, "early") in found[2].punctuations  # not at 10, with the tuple whose window had passed


def test_values_that_lie_in_several_places_lose_nothing_when_windows_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come at any time, most goes to disk between batches, and windows end while values wait there."""
    monkeypatch.setattr(Scratch, "table_bytes", 1 << 23)
    monkeypatch.setattr(value_blocks, "_MERGED", 16)
    streams = tuple(replace(stream, window=TimeWindow(250)) for stream in TIGHT.streams)
    spec, random = replace(TIGHT, streams=streams), Random(0)
    limited, free = new_driver(spec), new_driver(replace(spec, memory=None))
    assert isinstance(limited.spill, SpilledValues)
    limited.spill._allowed = Allowance(Memory(tuples=200), Memory(tuples=25))
    for start in range(0, 750, 25):
        times = range(start, start + 25)
        batch = [as_batch(each, [Row((random.randrange(125), ts, ts, False)) for ts in times]) for each in streams]
        assert results(limited, batch) == results(free, batch)


@FEWER
@given(cases(), MEMORIES)
def test_an_extra_predicate_decides_what_matches(case: Case, share: float) -> None:
    def holds(one: Row, two: Row) -> bool:
        v, w = one.values[COLUMNS[LEFT].index("v")], two.values[COLUMNS[RIGHT].index("w")]
        return v is not None and w is not None and bool(v <= w)

    spec = of_two(case, share)
    seen = run(spec, case.batches, new_driver(spec, left("v") <= right("w")))
    for mine, theirs in zip(seen, expected(case.spec, case.batches, holds), strict=True):
        assert (mine.results, mine.unmatched) == (theirs.results, theirs.unmatched)


@FEWER
@given(cases(announced=key_patterns()), MEMORIES, st.integers(1, 4))
def test_survives_in_the_journal(case: Case, share: float, every: int) -> None:
    spec = of_two(case, share)
    go_on = journaled(lambda: new_driver(spec), every)

    def near_its_limit(driver: JoinDriver) -> JoinDriver:
        return go_on(stays_near_its_limit(driver))

    check_equals_oracle(lambda _, batches: run(spec, batches, between=near_its_limit), case.spec, case.batches, but=BUT)


TIGHT = JoinSpec(
    tuple(StreamSpec(name, COLUMNS[LEFT], ("k",), "ts", TimeWindow(100)) for name in "AB"), memory=Memory(tuples=1)
)


def some_rows(ts: int) -> StreamBatch:
    return as_batch(TIGHT.left, [Row((key, ts, 0, False)) for key in range(9)])


def test_a_join_may_begin_to_use_the_disk_but_not_cease_to() -> None:
    unlimited = replace(TIGHT, memory=None)
    old, new = new_driver(unlimited), new_driver(TIGHT)
    old.process(some_rows(0), as_batch(TIGHT.right, []))
    restore(new, [Journal().write(old)])
    assert sum(map(len, new.process(as_batch(TIGHT.left, []), some_rows(5)).results)) == 9
    with pytest.raises(SnapshotError, match="state beyond memory"):
        restore(new_driver(unlimited), [Journal().write(new)])


@pytest.mark.parametrize("change", ["altered", "missing"])
def test_a_file_that_is_not_what_was_written_stops_the_join(change: str) -> None:
    driver = new_driver(TIGHT)
    driver.process(some_rows(0), as_batch(TIGHT.right, []))
    assert isinstance(driver.spill, SpilledValues)
    assert isinstance(driver.spill.store, Scratch)
    for path in driver.spill.store.folder.iterdir():
        path.unlink() if change == "missing" else path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(ScratchError):
        driver.process(as_batch(TIGHT.left, []), some_rows(5))


def test_a_save_writes_what_changed() -> None:
    driver, journal = new_driver(TIGHT), Journal()
    driver.process(some_rows(0), as_batch(TIGHT.right, []))
    first, again = journal.write(driver), journal.write(driver)
    assert len(again) < len(first) / 2


def test_what_is_as_it_was_goes_back_unwritten() -> None:
    """Of nine values that come back seven or more go where they came from; what has met them is written alone."""
    bound = bound_join(replace(TIGHT, memory=Memory(tuples=64)), n_buckets=8)
    driver = replace(bound, at_once=1).driver(0)  # 32 tuples while it is processed, 4 while others are
    driver.process(as_batch(TIGHT.left, [Row((key, 0, 0, False)) for key in range(30)]), as_batch(TIGHT.right, []))
    assert isinstance(driver.spill, SpilledValues)
    blocks = driver.spill.blocks
    before = set(blocks.numbers())
    met = driver.process(as_batch(TIGHT.left, []), some_rows(1))
    assert sum(map(len, met.results)) == 9
    written = [blocks.rows(number) for number in blocks.numbers() if number not in before]
    assert sum(len(ours) for ours, _ in written) <= 4  # two of them had been in memory
    assert sum(len(other) for _, other in written) >= 7
    assert sum(map(len, driver.process(some_rows(2), some_rows(3)).results)) == 9 * (1 + 2)


def as_text(case: Case) -> Case:
    """The same with letters for keys."""

    def with_letter(each: Object) -> Object:
        if isinstance(each, Row):
            return Row((each.values[0] if each.values[0] is None else TEXTS[2 * each.values[0] + 2], *each.values[1:]))
        return replace(each, patterns=(_in_letters(each.patterns[0]), *each.patterns[1:]))

    return replace(
        case, batches=[tuple([with_letter(each) for each in side] for side in batch) for batch in case.batches]
    )


def _in_letters(pattern: Pattern) -> Pattern:
    def letter(key: Any) -> Any:
        return None if key is None else TEXTS[2 * key + 2]

    if isinstance(pattern, Constant):
        return Constant(letter(pattern.value))
    if isinstance(pattern, OneOf):
        return OneOf(tuple(map(letter, pattern.values)))
    return (
        replace(pattern, low=letter(pattern.low), high=letter(pattern.high)) if isinstance(pattern, Range) else pattern
    )


@FEWER
@given(cases(), MEMORIES, st.sampled_from([2, 64]))
def test_keys_of_text_equal_the_oracle(case: Case, share: float, hash_bits: int) -> None:
    """Also where different keys have one address on disk. Lazy purges go by the order in which keys are numbered."""
    case = as_text(case)
    spec = of_two(case, share, TEXTS)
    schemas = [stream_schema(stream).set(0, pa.field("k", pa.string())) for stream in spec.streams]
    driver = new_driver(spec, hash_bits=hash_bits, schemas=schemas)
    driver.codec.encode([pa.chunked_array([pa.array(TEXTS)])])
    check_equals_oracle(lambda _, batches: run(spec, batches, driver), case.spec, case.batches, but=BUT, domain=TEXTS)


@FEWER
@given(cases(), MEMORIES)
def test_more_rows_than_32_bits_can_number(case: Case, share: float) -> None:
    """Numbers of rows are those of the rows in memory; only the order of arrival goes on for ever."""
    spec = of_two(case, share)
    driver = new_driver(spec)
    for rows in driver.rows:
        rows.next_id = 2**31 - 3
    check(case, spec, driver)


@FEWER
@given(multiway_cases(), MEMORIES, st.integers(1, 9))
def test_many_streams_equal_the_oracle_and_survive_in_the_journal(case: Case, share: float, every: int) -> None:
    assume(case.spec.left.key)
    spec = replace(case.spec, memory=Memory(tuples=max(1, int(20 * share))))
    go_on = journaled(lambda: new_driver_of_many(spec), every)

    def near_its_limit(driver: JoinDriver) -> JoinDriver:
        return go_on(stays_near_its_limit(driver))

    check_many(case, run_many(spec, case.batches, new_driver_of_many(spec), near_its_limit), BUT)
