"""Joins of any number of streams: equal to the oracle, whatever the algorithm."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journaled import journaled
from multiway_harness import COUNTED, check, new_driver, run
from punctuated.model.algorithm import GCA, HW, LCA, MW, NLW, RIPPLE, XJOIN, Algorithm
from punctuated.model.batch import Row
from punctuated.model.expression import Column
from punctuated.model.pattern import WILDCARD, Constant, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.reach import reach_within
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.operator import driver as driver_module
from punctuated.operator.driver import JoinDriver
from punctuated.state import arrays
from punctuated.testing.multiway_strategies import multiway_cases
from punctuated.testing.strategies import Batch, Case

FEWER = settings(max_examples=settings().max_examples // 4)  # the oracle takes its time


@FEWER
@given(multiway_cases())
def test_equals_the_oracle_batch_by_batch(case: Case) -> None:
    check(case, run(case.spec, case.batches))


@FEWER
@given(multiway_cases(small_memory=True))
def test_equals_the_oracle_where_punctuations_are_soon_forgotten(case: Case) -> None:
    check(case, run(case.spec, case.batches))


@settings(max_examples=settings().max_examples // 10)
@pytest.mark.parametrize("algorithm", [HW, NLW, MW, GCA, LCA, RIPPLE, XJOIN], ids=lambda each: each.name)
@given(data=st.data())
def test_every_algorithm_equals_the_oracle(algorithm: Algorithm, data: st.DataObject) -> None:
    case = data.draw(multiway_cases(algorithms=[algorithm]))
    cleaned_late = algorithm.walk is not None and algorithm.walk.cleans_every
    check(case, run(case.spec, case.batches), ("stored", *COUNTED) if cleaned_late else ())


@FEWER
@given(multiway_cases())
def test_survives_in_the_journal(case: Case) -> None:
    check(case, run(case.spec, case.batches, between=journaled(lambda: new_driver(case.spec))))


@FEWER
@given(multiway_cases(), st.integers(1, 9))
def test_the_smallest_buffers_change_nothing(case: Case, quota: int) -> None:
    """Results of one tuple may fill the buffer several times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "SMALLEST", 1)
        patch.setattr(arrays, "_PAIRS", 1)
        patch.setattr(driver_module, "_LARGEST_QUOTA", quota)
        check(case, run(case.spec, case.batches))


@FEWER
@given(multiway_cases(), st.sampled_from([1, 2, 8]))
def test_colliding_hashes_change_nothing(case: Case, bits: int) -> None:
    check(case, run(case.spec, case.batches, new_driver(case.spec, hash_bits=bits)))


@FEWER
@given(multiway_cases())
def test_a_rebuild_after_every_batch_changes_nothing(case: Case) -> None:
    def rebuilt(driver: JoinDriver) -> JoinDriver:
        driver.state.compact()
        return driver

    check(case, run(case.spec, case.batches, between=rebuilt))


@FEWER
@given(multiway_cases())
def test_an_extra_predicate_decides_which_results_count(case: Case) -> None:
    """Of the first stream and the last one; a null is no match."""
    first, last = Column(0, "v"), Column(len(case.spec.streams) - 1, "v")

    def agree(*rows: Row) -> bool:
        ours, theirs = rows[0].values[2], rows[-1].values[2]
        return ours is not None and theirs is not None and ours <= theirs

    check(case, run(case.spec, case.batches, new_driver(case.spec, where=first <= last)), where=agree)


def test_an_ending_that_the_end_of_its_stream_puts_into_effect_counts_from_its_own_time() -> None:
    """Another stream has ended the value before, so that both are asked for a proof while the stream ends."""
    columns = ("k", "ts", "v", "f")
    streams = tuple(StreamSpec(name, columns, ("k",), "ts", punctuated=name in "CD") for name in "ABCD")
    spec = JoinSpec(streams, reaches=(reach_within("ABCD", 0),))
    ended = Punctuation(2, (Constant(0), WILDCARD, WILDCARD, WILDCARD), in_band=False)
    early, late = Row((0, 2, None, False)), Row((0, 3, None, False))
    case = Case(spec, [([], [], [], [ended]), ([early], [late], [ended, early], [early])])
    check(case, run(spec, case.batches))


def test_a_range_in_effect_counts_behind_an_ending_by_name_that_waits() -> None:
    """A value that is over in the output is ended by name for later, and by a range before."""
    columns = ("k", "ts", "v", "f")
    streams = tuple(
        StreamSpec(name, columns, ("k",), "ts", lateness_us=8 * (name == "C"), punctuated=True) for name in "ABC"
    )
    streams = (*streams[:2], replace(streams[2], flag="f"))
    spec = JoinSpec(streams, reaches=(reach_within("ABC", 0),))

    def ended(ts: int) -> Punctuation:
        return Punctuation(ts, (Range(0, 2, True, False), WILDCARD, WILDCARD, WILDCARD))

    begin: Batch = ([ended(2)], [Row((0, 0, None, False)), ended(2)], [])
    then: Batch = ([], [], [Row((0, 20, None, True)), ended(12)])
    case = Case(spec, [begin, then, ([], [], [Row((0, 13, None, False))])])
    check(case, run(spec, case.batches))
