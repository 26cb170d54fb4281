"""The driver and its kernels: equal to the oracle, and lawful beyond that."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import new_driver, run
from punctuated.errors import PromiseBroken
from punctuated.expressions.builders import left, right
from punctuated.kernels.key_bytes import mix_codes
from punctuated.model.batch import BucketId, Row, StreamBatch
from punctuated.model.pattern import WILDCARD, Constant
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JOINS_OF_TWO, LEFT, RIGHT, JoinSpec, JoinType, OnViolation, Side, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.operator import driver
from punctuated.operator.driver import JoinDriver
from punctuated.state import arrays
from punctuated.testing import reference
from punctuated.testing.checks import Observed, check_equals_oracle, expected
from punctuated.testing.strategies import COLUMNS, Batch, Case, HonestCase, Object, cases, honest_cases, key_patterns

CUTS = st.lists(st.integers(1, 60), max_size=6)


def total(seen: list[Observed], what: str) -> Counter[Any]:
    summed: Counter[Any] = Counter()
    for each in seen:
        summed += getattr(each, what)
    return summed


def without_times(rows: Counter[Any]) -> Counter[Any]:
    """Results or unmatched rows, but for their times."""
    bare: Counter[Any] = Counter()
    for (one, two, _), n in rows.items():
        bare[one, two] += n
    return bare


@given(cases())
def test_equals_the_oracle_batch_by_batch(case: Case) -> None:
    check_equals_oracle(run, case.spec, case.batches)


@given(cases(announced=key_patterns()))
def test_equals_the_oracle_where_ranges_are_announced(case: Case) -> None:
    check_equals_oracle(run, case.spec, case.batches)


@given(cases(small_memory=True))
def test_equals_the_oracle_where_punctuations_are_soon_forgotten(case: Case) -> None:
    check_equals_oracle(run, case.spec, case.batches)


@pytest.mark.parametrize("how", JOINS_OF_TWO)
@given(data=st.data())
def test_equals_the_oracle_for_every_join_type(how: JoinType, data: st.DataObject) -> None:
    case = data.draw(cases(types=[how]))
    check_equals_oracle(run, case.spec, case.batches)


def test_an_ending_that_is_said_again_for_an_earlier_time_waits_in_its_new_place() -> None:
    """Of the values that B has, 1 is over first, then 8 and 7; a lazy purge takes two at a time."""

    def over(key: int, ts: int) -> Punctuation:
        return Punctuation(ts, (Constant(key), WILDCARD, WILDCARD, WILDCARD), in_band=False)

    streams = tuple(StreamSpec("AB"[side], COLUMNS[side], ("k",), "ts", punctuated=True) for side in Side)
    spec = JoinSpec(streams, how=JoinType.RIGHT, purge_threshold=2)
    kept: list[Object] = [Row((key, 0, None, False)) for key in (1, 7, 8)]
    batches: list[Batch] = [([over(1, 3), over(7, 10)], kept), ([over(8, 5)], []), ([over(7, 5)], [])]
    batches.append(([Row((9, 20, None, False))], []))
    check_equals_oracle(run, spec, batches)
    assert [row[1][0] for row in run(spec, batches)[3].unmatched] == [1, 8]


def test_clusters_that_are_left_together_end_by_their_last_tuples() -> None:
    """A leaves 6 and 5 by coming to 0; with the 2 that it has ended before, a lazy purge takes 6 and waits with 5."""
    a = StreamSpec("A", COLUMNS[LEFT], ("k",), "ts", clustered=True, punctuated=True)
    b = StreamSpec("B", COLUMNS[RIGHT], ("k",), "ts")
    ending = Punctuation(0, (Constant(2), WILDCARD, WILDCARD, WILDCARD))
    left: list[Object] = [*(Row((key, ts, None, False)) for key, ts in [(5, 0), (6, 0), (5, 5), (0, 11)]), ending]
    right: list[Object] = [Row((key, ts, None, False)) for key, ts in [(5, 1), (6, 1), (6, 2)]]
    spec, batches = JoinSpec((a, b), purge_threshold=2), [(left, right)]
    assert run(spec, batches)[0].stored == (4, 1)
    check_equals_oracle(run, spec, batches)


@given(honest_cases(), CUTS, CUTS)
def test_honest_streams_give_the_same_however_they_are_cut(case: HonestCase, one: list[int], two: list[int]) -> None:
    a, b = run(case.spec, case.cut(one)), run(case.spec, case.cut(two))
    assert total(a, "rejected") == Counter()
    assert without_times(total(a, "results")) == without_times(total(b, "results"))
    if case.spec.how is not JoinType.SEMI or case.in_order:  # else it is open which tuple is the first to match
        assert total(a, "results") == total(b, "results")
    assert without_times(total(a, "unmatched")) == without_times(total(b, "unmatched"))


@given(honest_cases(disorder=False, prompt=True), CUTS, CUTS)
def test_output_punctuations_do_not_depend_on_cuts_in_time_order(
    case: HonestCase, one: list[int], two: list[int]
) -> None:
    """But for values under a range: those are said one by one that are stored when it takes effect."""

    def said(cuts: list[int]) -> Counter[Any]:
        punctuations = total(run(case.spec, case.cut(cuts)), "punctuations")
        return Counter(
            {each: n for each, n in punctuations.items() if not each[0] or not case.is_under_a_range(*each[0])}
        )

    assert said(one) == said(two)


@given(honest_cases())
def test_punctuations_never_change_results(case: HonestCase) -> None:
    bare = case.without_punctuations()
    a, b = run(case.spec, case.cut([])), run(bare.spec, bare.cut([]))
    assert without_flags(total(a, "results")) == without_flags(total(b, "results"))


def without_flags(results: Counter[Any]) -> Counter[Any]:
    """The flag column is what says the punctuations, so it goes with them."""
    bare: Counter[Any] = Counter()
    for (one, two, ts), n in results.items():
        bare[one and one[:3], two and two[:3], ts] += n
    return bare


@given(cases(), st.sampled_from([1, 2, 8]))
def test_colliding_hashes_change_nothing(case: Case, bits: int) -> None:
    def run_with_collisions(spec: JoinSpec, batches: list[object]) -> list[Observed]:
        return run(spec, batches, new_driver(spec, hash_bits=bits))  # type: ignore[arg-type]

    check_equals_oracle(run_with_collisions, case.spec, case.batches)  # type: ignore[arg-type]


@given(cases())
def test_a_rebuild_after_every_batch_changes_nothing(case: Case) -> None:
    def rebuilt(driver: JoinDriver) -> JoinDriver:
        driver.state.compact()
        return driver

    check_equals_oracle(lambda spec, batches: run(spec, batches, between=rebuilt), case.spec, case.batches)


@given(cases(), st.integers(1, 9))
def test_the_smallest_buffers_and_a_pause_after_every_object_change_nothing(case: Case, quota: int) -> None:
    """Whatever room there is, no object is left out or processed twice."""

    def run_in_small_steps(spec: JoinSpec, batches: list[object]) -> list[Observed]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arrays, "SMALLEST", 1)
            patch.setattr(arrays, "_PAIRS", 1)
            patch.setattr(driver, "_LARGEST_QUOTA", quota)
            return run(spec, batches, new_driver(spec, sample_us=1))  # type: ignore[arg-type]

    check_equals_oracle(run_in_small_steps, case.spec, case.batches)  # type: ignore[arg-type]


MIRRORED = {
    JoinType.INNER: JoinType.INNER,
    JoinType.LEFT: JoinType.RIGHT,
    JoinType.RIGHT: JoinType.LEFT,
    JoinType.FULL: JoinType.FULL,
}


@given(honest_cases(types=list(MIRRORED), disorder=False), CUTS)
def test_mirrored_inputs_give_mirrored_results(case: HonestCase, cuts: list[int]) -> None:
    spec = case.spec
    batches = case.cut(cuts)
    mirrored = replace(spec, streams=(spec.right, spec.left), how=MIRRORED[spec.how])
    a, b = run(spec, batches), run(mirrored, [(right, left) for left, right in batches])
    assert total(a, "results") == Counter({(x, y, ts): n for (y, x, ts), n in total(b, "results").items()})
    flipped = Counter({(not is_left, v): n for (is_left, v), n in without_times(total(b, "unmatched")).items()})
    assert without_times(total(a, "unmatched")) == flipped


@given(cases())
def test_an_extra_predicate_decides_what_matches(case: Case) -> None:
    where = left("v") <= right("w")

    def holds(one: Row, two: Row) -> bool:
        v, w = one.values[COLUMNS[LEFT].index("v")], two.values[COLUMNS[RIGHT].index("w")]
        return v is not None and w is not None and bool(v <= w)

    seen = run(case.spec, case.batches, new_driver(case.spec, where))
    wanted = expected(case.spec, case.batches, holds)
    for mine, theirs in zip(seen, wanted, strict=True):
        assert mine.results == theirs.results
        assert mine.unmatched == theirs.unmatched


@given(cases(policies=[OnViolation.FAIL]))
def test_a_broken_promise_fails_where_the_stream_says_so(case: Case) -> None:
    try:
        reference.join(case.spec, case.batches)
    except PromiseBroken:
        with pytest.raises(PromiseBroken, match="on_violation"):
            run(case.spec, case.batches)
    else:
        check_equals_oracle(run, case.spec, case.batches)


@pytest.mark.parametrize("n_buckets", [1, 2, 8])
def test_state_stays_small_while_values_come_and_go(n_buckets: int) -> None:
    spec = JoinSpec(
        streams=(
            StreamSpec("A", COLUMNS[LEFT], ("k",), "ts", unique=True, punctuated=True),
            StreamSpec("B", COLUMNS[RIGHT], ("k",), "ts", flag="f", punctuated=True),
        )
    )
    bucket = n_buckets - 1
    driver = new_driver(spec, place=BucketId(bucket, n_buckets))
    sizes = []
    for start in range(0, 200_000 * n_buckets, 5_000 * n_buckets):
        keys = np.arange(start, start + 5_000 * n_buckets)
        keys = keys[mix_codes(keys, n_buckets) == bucket]
        times, nothing = keys * 10, np.zeros(keys.size, np.int64)
        opened = pa.table([keys, times, nothing, nothing > 0], names=list(COLUMNS[LEFT]))
        closed = pa.table([keys, times + 5, nothing, nothing == 0], names=list(COLUMNS[RIGHT]))
        driver.process(StreamBatch(opened), StreamBatch(closed))
        sizes.append(driver.nbytes)
    assert driver.state.sides["live"].tolist() == [0, 0]
    assert len(driver.punctuations.memory.runs) == 1  # all ended integers of a bucket are one interval
    assert max(sizes) <= 1.1 * max(sizes[:3])


def test_between_batches_nothing_of_the_last_one_is_held() -> None:
    """Buckets rest in the memory of workers: what they hold is what they say."""
    both, now = ((LEFT, "A"), (RIGHT, "B")), TimeWindow(0)
    driver = new_driver(JoinSpec(streams=tuple(StreamSpec(n, COLUMNS[s], ("k",), "ts", window=now) for s, n in both)))
    times = np.repeat(np.arange(200), 30)  # each tuple meets 30 of the other stream
    rows = [times, times, times, times > 0]
    before = pa.total_allocated_bytes()
    brought = driver.process(*(StreamBatch(pa.table(rows, names=list(COLUMNS[side]))) for side, _ in both))
    held = pa.total_allocated_bytes() - before
    assert sum(map(len, brought.results)) == 200 * 30 * 30
    assert held > 2 * driver.nbytes
    del brought
    assert pa.total_allocated_bytes() - before <= driver.nbytes
