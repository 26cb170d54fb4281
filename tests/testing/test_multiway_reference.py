"""The oracle of n streams: equal to that of two where there are two, and the laws it keeps."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctuated.model.algorithm import PWJOIN, WJOIN, choose_algorithm
from punctuated.model.batch import Row
from punctuated.model.pattern import WILDCARD, Constant
from punctuated.model.punctuation import Punctuation
from punctuated.model.reach import Reach, reach_along, reach_by_windows, reach_within
from punctuated.model.spec import JoinSpec, JoinType, OnViolation, StreamSpec
from punctuated.model.window import TimeWindow, Window
from punctuated.testing import reference
from punctuated.testing.multiway_reference import MultiwayReference
from punctuated.testing.multiway_strategies import honest_multiway_cases, multiway_cases
from punctuated.testing.reference import Reference
from punctuated.testing.reference_state import BatchOutput
from punctuated.testing.strategies import Case, HonestCase, cases

Given = Sequence[Row | Punctuation]
SHOWN = ("results", "result_ts", "punctuations", "rejected")
TOTALS = ("watermark", "stored", "forgotten", "purged", "invalidated", "discarded", "dropped")
FEWER = settings(max_examples=settings().max_examples // 4)  # an oracle takes its time
ALGORITHMS = PWJOIN, choose_algorithm("pwjoin", "regular"), choose_algorithm("pwjoin", "none"), WJOIN


def spec(reach: Reach, **settings: Any) -> JoinSpec:
    streams = [StreamSpec(name, ("k", "ts"), ("k",), "ts", punctuated=True, **settings) for name in "ABCDEF"]
    return JoinSpec(tuple(streams[: len(reach)]), reaches=(reach,))


def row(key: int, ts: int) -> Row:
    return Row((key, ts))


def ended(key: int, ts: int) -> Punctuation:
    return Punctuation(ts, (Constant(key), WILDCARD))


def seen(output: BatchOutput, totals: Sequence[str] = TOTALS) -> dict[str, object]:
    shown = {name: Counter(getattr(output, name)) for name in SHOWN}
    return {**shown, **{name: getattr(output, name) for name in totals}}


class TestByHand:
    """Timelines of three streams within 10 of each other."""

    near = spec(reach_within("ABC", 10))

    def test_the_tuple_that_comes_last_completes_the_results(self) -> None:
        output = MultiwayReference(self.near).process([row(7, 0)], [row(7, 3), row(7, 11)], [row(7, 10)])
        assert output.results == [(row(7, 0), row(7, 3), row(7, 10))]  # 11 is too far from 0

    def test_removal_is_one_sided(self) -> None:
        """XD-18: a tuple ahead of the others is not too old for them."""
        join = MultiwayReference(self.near)
        join.process([row(7, 100)], [row(7, 0)], [row(7, 0)])
        assert join.process([], [row(7, 95)], [row(7, 99)]).results == [(row(7, 100), row(7, 95), row(7, 99))]

    def test_a_silent_stream_proves_nothing(self) -> None:
        """XD-18: nothing is removed while some other stream has delivered nothing yet."""
        join = MultiwayReference(self.near)
        assert join.process([row(7, 0)], [row(7, 5), row(8, 50)], []).stored == (1, 2, 0)

    def test_no_partner_by_window(self) -> None:
        """B is beyond the reach of A's tuple and has nothing near it: what C does is all the same."""
        exact, by_value = MultiwayReference(self.near), MultiwayReference(self.near, by_value=True)
        batch: tuple[Given, ...] = [row(7, 0)], [row(7, 50)], []
        assert exact.process(*batch).stored == (0, 1, 0)
        assert by_value.process(*batch).stored == (1, 1, 0)

    def test_no_partner_leaves_others_without_one(self) -> None:
        """A's 7@0 goes because B has none near it; it was the only one near C's 7@9, which B's 7@12 waited for."""
        join = MultiwayReference(self.near)
        assert join.process([row(7, 0)], [row(7, 12)], [row(7, 9)]).stored == (0, 1, 1)
        assert join.process([row(8, 45)], [], []).stored == (1, 0, 0)

    def test_complete_by_an_ending_and_a_window(self) -> None:
        join = MultiwayReference(self.near)
        output = join.process([row(7, 0)], [row(7, 1), ended(7, 2)], [row(7, 3), row(8, 11)])
        assert output.results == [(row(7, 0), row(7, 1), row(7, 3))]
        assert output.stored == (0, 1, 2)  # A's tuple: B has ended its value, C is beyond its reach

    def test_a_value_is_over_when_one_stream_has_ended_it_without_a_tuple(self) -> None:
        join = MultiwayReference(self.near)
        output = join.process([row(7, 0)], [ended(7, 4)], [row(7, 2)])
        assert output.stored == (0, 0, 0)
        assert [(each.key, each.ts, each.reason) for each in output.punctuations] == [((7,), 4, "early")]

    def test_early_when_the_last_tuple_is_out_of_reach_of_all_others(self) -> None:
        join = MultiwayReference(self.near)
        join.process([row(7, 0), ended(7, 1)], [row(7, 2)], [row(7, 3)])
        assert not join.process([], [row(8, 11)], [row(8, 10)]).punctuations
        output = join.process([], [], [row(8, 11)])
        assert [(each.key, each.ts, each.reason) for each in output.punctuations] == [((7,), 11, "early")]
        assert output.stored == (0, 1, 2)

    def test_all_have_ended_it(self) -> None:
        join = MultiwayReference(self.near)
        output = join.process([row(7, 0), ended(7, 1)], [row(7, 0), ended(7, 3)], [row(7, 0), ended(7, 2)])
        assert [(each.key, each.ts, each.reason) for each in output.punctuations] == [((7,), 3, "all")]

    def test_directed_path(self) -> None:
        path = spec(reach_along("ABC", [5, 2]))
        output = MultiwayReference(path).process([row(7, 4)], [row(7, 3), row(7, 6)], [row(7, 5), row(7, 8)])
        assert output.results == [(row(7, 4), row(7, 6), row(7, 8))]


# Two streams


def plain_window(window: Window) -> Window:
    return TimeWindow(window.span_us) if isinstance(window, TimeWindow) else None


def with_reach(spec: JoinSpec) -> JoinSpec:
    """The same join, its windows of a length or none, given as a reach."""
    streams = tuple(replace(stream, window=plain_window(stream.window)) for stream in spec.streams)
    names, windows = [stream.name for stream in streams], [stream.window for stream in streams]
    return replace(spec, streams=streams, purge_threshold=1, reaches=(reach_by_windows(names, windows),))


@FEWER
@given(cases(types=[JoinType.INNER], algorithms=ALGORITHMS))
def test_two_streams_are_joined_as_by_the_oracle_of_two(case: Case) -> None:
    spec = with_reach(case.spec)
    two, exact, by_value = Reference(spec), MultiwayReference(spec), MultiwayReference(spec, by_value=True)
    for batch in case.batches:
        wanted = seen(two.process(*batch))
        assert seen(exact.process(*batch)) == wanted
        assert seen(by_value.process(*batch)) == wanted
    assert seen(exact.end()) == seen(by_value.end()) == seen(two.end())


# Any streams


@FEWER
@given(multiway_cases(policies=[OnViolation.REJECT], with_ranges=False))
def test_operators_may_hold_more_but_show_the_same(case: Case) -> None:
    """Without a look at windows for a partner, tuples stay longer: never beyond their own windows and endings.

    A range names the values that are stored when it takes effect, and so depends on it.
    """
    exact, by_value = MultiwayReference(case.spec), MultiwayReference(case.spec, by_value=True)
    for batch in [*case.batches, None]:
        wanted, held = (each.end() if batch is None else each.process(*batch) for each in (exact, by_value))
        assert seen(held, ["watermark", "forgotten"]) == seen(wanted, ["watermark", "forgotten"])
        for fewer, more in zip(exact.streams, by_value.streams, strict=True):
            assert {id(kept.row) for kept in fewer.stored} <= {id(kept.row) for kept in more.stored}
            assert not any(by_value._is_complete(more, kept) for kept in more.stored)


@FEWER
@given(multiway_cases(policies=[OnViolation.REJECT]), st.randoms())
def test_the_order_of_streams_is_nothing(case: Case, random: Any) -> None:
    n = len(case.spec.streams)
    order = random.sample(range(n), n)
    reaches = tuple(tuple(tuple(reach[i][j] for j in order) for i in order) for reach in case.spec.reaches)
    shuffled = replace(case.spec, streams=tuple(case.spec.streams[i] for i in order), reaches=reaches)
    batches = [tuple(batch[i] for i in order) for batch in case.batches]
    for wanted, found in zip(reference.join(case.spec, case.batches), reference.join(shuffled, batches), strict=True):
        assert Counter(tuple(members[i] for i in order) for members in wanted.results) == Counter(found.results)
        assert tuple(wanted.stored[i] for i in order) == found.stored
        assert Counter(order[each.side] for each in found.rejected) == Counter(each.side for each in wanted.rejected)


@FEWER
@given(multiway_cases(algorithms=ALGORITHMS[:2]))
def test_what_is_punctuated_does_not_come_again_and_is_said_once(case: Case) -> None:
    over: set[Any] = set()
    for output in reference.join(case.spec, case.batches):
        assert not over & {members[0].values[0] for members in output.results if members[0] is not None}
        said = [each.key for each in output.punctuations if each.key is not None]
        assert len(said) == len(set(said))
        over |= {key[0] for key in said}


# Honest streams


def run(case: HonestCase, at: Sequence[int]) -> list[BatchOutput]:
    return reference.join(case.spec, case.cut(at))


def gather(outputs: Sequence[BatchOutput], part: str) -> Counter[Any]:
    return Counter(each for output in outputs for each in getattr(output, part))


def by_brute_force(case: HonestCase) -> Counter[Any]:
    n = len(case.spec.streams)
    rows = [[each for s, each in case.history if s == side and isinstance(each, Row)] for side in range(n)]
    by_key = [
        [[each for each in ours if each.values[0] == key] for ours in rows]
        for key in {each.values[0] for each in rows[0]} - {None}
    ]
    return Counter(members for ours in by_key for members in product(*ours) if are_near(case.spec, members))


def are_near(spec: JoinSpec, members: Sequence[Row]) -> bool:
    times = [member.values[1] for member in members]
    pairs = list(product(range(len(times)), repeat=2))
    return any(all(times[j] - times[i] <= reach[i][j] for i, j in pairs) for reach in spec.reaches)


def cuts() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 30), max_size=6)


@FEWER
@given(honest_multiway_cases(), cuts())
def test_honest_results_depend_on_neither_cuts_nor_punctuations(case: HonestCase, at: list[int]) -> None:
    wanted = by_brute_force(case)
    for outputs in (run(case, at), run(case, []), run(case.without_punctuations(), at)):
        assert not any(output.rejected for output in outputs)
        assert gather(outputs, "results") == wanted


@FEWER
@given(honest_multiway_cases(disorder=False, prompt=True), cuts())
def test_honest_punctuations_in_order_do_not_depend_on_cuts(case: HonestCase, at: list[int]) -> None:
    """But for values under a range, as of two streams."""

    def said(outputs: Sequence[BatchOutput]) -> Counter[Any]:
        named = gather(outputs, "punctuations")
        return Counter(each for each in named.elements() if each.key is None or not case.is_under_a_range(each.key[0]))

    assert said(run(case, at)) == said(run(case, []))


@FEWER
@given(honest_multiway_cases(disorder=False, prompt=True, with_ranges=False))
def test_a_cut_after_each_object_holds_least(case: HonestCase) -> None:
    """What is stored at the end of a batch does not depend on how it came there."""
    ends = range(1, len(case.history))
    one_by_one, whole = run(case, list(ends)), run(case, [])
    assert one_by_one[-1].stored == whole[-1].stored


# Reach


def test_a_window_that_is_wider_than_a_way_around_is_tightened() -> None:
    """WJ-28, XD-21."""
    reach = reach_within("ABCD", {("A", "B"): 2, ("B", "C"): 3, ("C", "D"): 4, ("B", "D"): 1, ("A", "D"): 50})
    assert [reach[i][j] for i, j in pairwise(range(4))] == [2, 3, 4]
    assert reach[0][3] == reach[3][0] == 3  # MIN(w1 + w2 + w3, w1 + w4)


@pytest.mark.parametrize("n", [2, 6])
def test_one_window_for_all(n: int) -> None:
    reach = reach_within("ABCDEF"[:n], "1 second")
    assert all(reach[i][j] == (0 if i == j else 1_000_000) for i, j in product(range(n), repeat=2))
