"""The oracle itself, on timelines made by hand, and the laws it keeps on honest streams.

In the timelines `7` is a tuple with the value 7, `<7>` a punctuation that ends it, `|` the end of a batch.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctuated.errors import PromiseBroken
from punctuated.model.algorithm import choose_algorithm
from punctuated.model.batch import Row
from punctuated.model.pattern import EMPTY, WILDCARD, Constant, OneOf, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType, OnViolation, Side, StreamSpec
from punctuated.model.window import CountWindow, TimeWindow
from punctuated.testing import reference
from punctuated.testing.reference import BatchOutput, OutputPunctuation, Reference, Rejected, Unmatched, groups
from punctuated.testing.strategies import COLUMNS, Case, HonestCase, cases, honest_cases


def stream(side: Side, **settings: Any) -> StreamSpec:
    return StreamSpec(name="AB"[side], columns=COLUMNS[side], key=("k",), time="ts", **settings)


def spec(left: dict[str, Any] | None = None, right: dict[str, Any] | None = None, **settings: Any) -> JoinSpec:
    return JoinSpec((stream(LEFT, **(left or {})), stream(RIGHT, **(right or {}))), **settings)


def row(key: int | None, ts: int, payload: int | None = None, flag: bool = False) -> Row:
    return Row((key, ts, payload, flag))


def ended(key: int | Pattern, ts: int, in_band: bool = True) -> Punctuation:
    pattern = Constant(key) if isinstance(key, int) else key
    return Punctuation(ts, (pattern, WILDCARD, WILDCARD, WILDCARD), in_band)


def until(t: int, ts: int, closed: bool = True) -> Punctuation:
    bound = Range(high=t, high_closed=closed)
    return Punctuation(ts, (WILDCARD, bound, WILDCARD, WILDCARD))


def over(ts: int) -> Punctuation:
    return Punctuation(ts, (WILDCARD,) * 4)


def both(key: int, ts: int) -> OutputPunctuation:
    return OutputPunctuation((key,), ts, "both")


def early(key: int, ts: int) -> OutputPunctuation:
    return OutputPunctuation((key,), ts, "early")


Given = Sequence[Row | Punctuation]
COUNT = {"n": ("count", None)}


class TestRunningExample:
    """Auctions that are unique and open for at most twelve hours, and their bids (PW-37 to PW-44)."""

    auctions = spec({"window": TimeWindow(12), "unique": True}, {"flag": "f"})

    def test_bids_are_never_stored(self) -> None:
        # A  180@0
        # B         180@3  180@4
        output = Reference(self.auctions).process([row(180, 0)], [row(180, 3), row(180, 4)])
        assert output.results == [(row(180, 0), row(180, 3)), (row(180, 0), row(180, 4))]
        assert output.stored == (1, 0)
        assert output.discarded == 2

    def test_the_last_bid_removes_the_auction_and_finishes_its_group(self) -> None:
        # A  180@0
        # B         180@3  180@5 closed |
        outputs = reference.join(self.auctions, [([row(180, 0)], [row(180, 3), row(180, 5, flag=True)])])
        assert outputs[0].punctuations == [both(180, 5)]
        assert outputs[0].stored == (0, 0)
        assert groups(self.auctions, outputs, ["k"], COUNT) == [[{"k": 180, "n": 2}], []]

    def test_an_auction_that_outlives_its_window_is_over_early(self) -> None:
        # A  182@1
        # B         182@4 | 180@14 | 182@15
        batches: list[tuple[Given, Given]] = [
            ([row(182, 1)], [row(182, 4)]),
            ([], [row(180, 14)]),
            ([], [row(182, 15)]),
        ]
        outputs = reference.join(self.auctions, batches, end=False)
        assert [output.punctuations for output in outputs] == [[], [early(182, 14)], []]
        assert outputs[2].dropped == 1
        assert outputs[2].results == []
        assert groups(self.auctions, outputs, ["k"], COUNT) == [[], [{"k": 182, "n": 1}], []]

    def test_the_printed_rows_give_punctuations_only(self) -> None:
        # in minutes: A  180@9:03  182@9:10
        #             B                       four days later: 180@8:27  182@8:30  180@8:57  <180>
        spec = replace(
            self.auctions,
            streams=(replace(self.auctions.left, window=TimeWindow(12 * 60)), self.auctions.right),
        )
        opened = [row(180, 543), row(182, 550)]
        day = 4 * 24 * 60
        bids: Given = [row(180, day + 507), row(182, day + 510), row(180, day + 537), ended(180, day + 538)]
        output = Reference(spec).process(opened, bids)
        assert output.results == []
        assert output.punctuations == [early(180, 543 + 721), early(182, 550 + 721)]
        assert output.dropped == 3


class TestWindows:
    def test_bounds_are_closed(self) -> None:
        # A  7@0          window 5
        # B       7@5 7@6
        output = Reference(spec({"window": TimeWindow(5)})).process([row(7, 0)], [row(7, 5), row(7, 6)])
        assert output.results == [(row(7, 0), row(7, 5))]

    def test_the_earlier_one_decides(self) -> None:
        # A       7@3     window 0
        # B  7@0          window 3
        sized = spec({"window": TimeWindow(0)}, {"window": TimeWindow(3)})
        assert len(Reference(sized).process([row(7, 3)], [row(7, 0)]).results) == 1
        assert Reference(sized).process([row(7, 0)], [row(7, 3)]).results == []

    def test_an_offset_window_starts_later(self) -> None:
        # A  7@0                  window 2 to 4
        # B  7@0 7@1 7@2 7@4 7@5
        offset = spec({"window": TimeWindow(4, offset_us=2)})
        output = Reference(offset).process([row(7, 0)], [row(7, ts) for ts in (0, 1, 2, 4, 5)])
        assert [right for _, right in output.results] == [row(7, 2), row(7, 4)]

    def test_a_late_tuple_that_is_allowed_finds_its_partner(self) -> None:
        # A  7@0 |                window 5
        # B        9@8 | 7@5      lateness 3
        join = Reference(spec({"window": TimeWindow(5)}, {"lateness_us": 3}))
        join.process([row(7, 0)], [row(9, 8)])
        assert join.process([], [row(7, 5)]).results == [(row(7, 0), row(7, 5))]
        assert join.process([], [row(9, 9)]).stored == (0, 3)

    def test_the_last_rows_of_the_stream(self) -> None:
        # A  1@0 2@1 -@2          rows(2), a null takes a place
        # B                1@3 2@3
        output = Reference(spec({"window": CountWindow(2)}, how=JoinType.LEFT)).process(
            [row(1, 0), row(2, 1), row(None, 2)], [row(1, 3), row(2, 3)]
        )
        assert output.results == [(row(2, 1), row(2, 3))]
        assert output.unmatched == [Unmatched(LEFT, row(None, 2), 2), Unmatched(LEFT, row(1, 0), 2)]

    def test_the_last_rows_of_each_key(self) -> None:
        # A  1@0 2@1 1@2          rows(1, per="key")
        # B                1@3 2@3
        counted = spec({"window": CountWindow(1, per_key=True)})
        output = Reference(counted).process([row(1, 0), row(2, 1), row(1, 2)], [row(1, 3), row(2, 3)])
        assert output.results == [(row(1, 2), row(1, 3)), (row(2, 1), row(2, 3))]

    def test_a_count_window_ends_a_value_early(self) -> None:
        # A  1@0 <1>@1 2@5        rows(1)
        output = Reference(spec({"window": CountWindow(1)})).process([row(1, 0), ended(1, 1), row(2, 5)], [])
        assert output.punctuations == [early(1, 5)]


class TestOutputPunctuations:
    def test_regular(self) -> None:
        # A  7@0 <7>@2
        # B            7@3 <7>@4
        output = Reference(spec()).process([row(7, 0), ended(7, 2)], [row(7, 3), ended(7, 4)])
        assert output.results == [(row(7, 0), row(7, 3))]
        assert output.punctuations == [both(7, 4)]
        assert output.stored == (0, 0)

    def test_early_time_is_one_after_the_window(self) -> None:
        # A  7@0 <7>@2            window 5
        # B               8@5 | 8@6
        join = Reference(spec({"window": TimeWindow(5)}))
        assert join.process([row(7, 0), ended(7, 2)], [row(8, 5)]).punctuations == []
        assert join.process([], [row(8, 6)]).punctuations == [early(7, 6)]

    def test_a_value_that_never_came_is_over_at_once(self) -> None:
        # A  <7>@2
        assert Reference(spec()).process([ended(7, 2)], []).punctuations == [early(7, 2)]

    def test_a_last_tuple_that_both_watermarks_have_passed_no_longer_counts(self) -> None:
        # A  7@0         8@9 | <7>@3 as an ending     window 5
        # B              8@9 |
        join = Reference(spec({"window": TimeWindow(5)}))
        join.process([row(7, 0), row(8, 9)], [row(8, 9)])
        assert join.process([ended(7, 3, in_band=False)], []).punctuations == [early(7, 3)]

    def test_an_ending_waits_for_the_watermark(self) -> None:
        # A  7@0 <7>@2 | 8@4 | 8@5      lateness 3
        # B  <7>@1     |     |
        join = Reference(spec({"lateness_us": 3}))
        assert join.process([row(7, 0), ended(7, 2)], [row(7, 0), ended(7, 1)]).punctuations == []
        assert join.process([row(8, 4)], []).punctuations == []
        assert join.process([row(8, 5)], []).punctuations == [both(7, 2)]

    @pytest.mark.parametrize(
        ("how", "by"),
        [("inner", "AB"), ("semi", "AB"), ("left", "A"), ("anti", "A"), ("right", "B"), ("full", "")],
    )
    def test_who_may_end_early(self, how: str, by: str) -> None:
        # A  <1>@0
        # B  <2>@0
        output = Reference(spec(how=JoinType(how))).process([ended(1, 0)], [ended(2, 0)])
        assert output.punctuations == [early(1, 0)] * ("A" in by) + [early(2, 0)] * ("B" in by)

    def test_own_state(self) -> None:
        # A  7@0   <7>@2   <8>@2
        own_state = spec(algorithm=choose_algorithm("pjoin", "own-state"))
        output = Reference(own_state).process([row(7, 0), ended(7, 2), ended(8, 2)], [])
        assert output.punctuations == [OutputPunctuation((8,), 2, "own-state")]

    @pytest.mark.parametrize("how", [JoinType.SEMI, JoinType.ANTI])
    def test_own_state_that_a_match_has_emptied(self, how: JoinType) -> None:
        # A  7@0 7@1 <7>@2
        # B                7@5
        own_state = spec(how=how, algorithm=choose_algorithm("pjoin", "own-state"))
        output = Reference(own_state).process([row(7, 0), row(7, 1), ended(7, 2)], [row(7, 5)])
        assert output.punctuations == [OutputPunctuation((7,), 5, "own-state")]
        assert output.stored == (0, 0)
        assert output.discarded == 1

    @pytest.mark.parametrize("per_key", [False, True])
    def test_own_state_that_a_count_window_has_emptied(self, per_key: bool) -> None:
        # A       7@1 <7>@2 7@4      rows(1); 7@4 is accepted although it breaks the promise, and matches at once
        # B  7@0                     window 4 to 9, not purged yet
        own_state = spec(
            {"window": CountWindow(1, per_key=per_key), "on_violation": OnViolation.ACCEPT},
            {"window": TimeWindow(9, offset_us=4)},
            how=JoinType.SEMI,
            algorithm=choose_algorithm("pjoin", "own-state"),
            purge_threshold=9,
        )
        join = Reference(own_state)
        assert join.process([row(7, 1), ended(7, 2)], [row(7, 0)]).punctuations == []
        output = join.process([row(7, 4)], [])
        assert output.results == [(row(7, 4), None)]
        assert output.punctuations == [OutputPunctuation((7,), 4, "own-state")]

    @pytest.mark.parametrize("name", ["wjoin", "shj"])
    def test_some_algorithms_do_not_listen(self, name: str) -> None:
        # A  7@0 <7>@2
        # B            7@3 <7>@4
        output = Reference(spec(algorithm=choose_algorithm(name))).process(
            [row(7, 0), ended(7, 2)], [row(7, 3), ended(7, 4)]
        )
        assert output.results == [(row(7, 0), row(7, 3))]
        assert output.punctuations == []
        assert output.stored == (1, 1)

    def test_the_watermark_is_the_smaller_one(self) -> None:
        join = Reference(spec({"lateness_us": 2}))
        assert join.process([row(1, 9)], []).watermark is None
        assert join.process([], [row(1, 8)]).watermark == 7
        assert join.end().watermark == math.inf


class TestRejected:
    def test_late(self) -> None:
        # A  7@9 | 7@6 7@7       lateness 2
        join = Reference(spec({"lateness_us": 2}))
        join.process([row(7, 9)], [])
        assert join.process([row(7, 6), row(7, 7)], []).rejected == [Rejected(LEFT, row(7, 6), "late")]

    def test_the_flag_of_a_late_tuple_counts(self) -> None:
        # A  8@9 | 7@6 flagged | 7@9
        join = Reference(spec({"flag": "f"}))
        join.process([row(8, 9)], [])
        assert join.process([row(7, 6, flag=True)], []).punctuations == [early(7, 6)]
        assert join.process([row(7, 9)], []).rejected == [Rejected(LEFT, row(7, 9), "promise")]

    def test_ahead(self) -> None:
        # A  7@0 7@5 | 7@99 flagged 7@10 | 7@12      max_ahead 5
        join = Reference(spec({"max_ahead_us": 5, "flag": "f"}))
        join.process([row(7, 0), row(7, 5)], [])
        output = join.process([row(7, 99, flag=True), row(7, 10)], [])
        assert output.rejected == [Rejected(LEFT, row(7, 99, flag=True), "ahead")]
        assert join.process([row(7, 12)], []).rejected == []

    def test_a_broken_promise(self) -> None:
        # A  <7>@3 7@3 7@4 : the tuple of the punctuation's own time came before it
        output = Reference(spec()).process([ended(7, 3), row(7, 3), row(7, 4)], [])
        assert output.rejected == [Rejected(LEFT, row(7, 4), "promise")]

    def test_a_promise_about_other_columns(self) -> None:
        # A  <v=1>@3 , then v=1@3 in the same batch is fine | v=1@3 is not
        promise = Punctuation(3, (WILDCARD, WILDCARD, Constant(1), WILDCARD))
        join = Reference(spec())
        assert join.process([promise, row(7, 3, 1)], []).rejected == []
        assert join.process([row(7, 3, 1), row(7, 3, 2)], []).rejected == [Rejected(LEFT, row(7, 3, 1), "promise")]

    def test_unique(self) -> None:
        # A  7@3 7@3
        output = Reference(spec({"unique": True})).process([row(7, 3, 0), row(7, 3, 1)], [])
        assert output.rejected == [Rejected(LEFT, row(7, 3, 1), "promise")]

    def test_accepted_after_all(self) -> None:
        # A  7@0 <7>@1     7@3 | <7>   |
        # B            7@2     |       | 7@5
        join = Reference(spec({"on_violation": OnViolation.ACCEPT}))
        output = join.process([row(7, 0), ended(7, 1), row(7, 3)], [row(7, 2)])
        assert output.rejected == []
        assert output.results == [(row(7, 0), row(7, 2))]  # the second one finds nothing: 7@2 was not stored
        assert join.process([ended(7, 4)], [row(7, 5)]).results == [(row(7, 0), row(7, 5)), (row(7, 3), row(7, 5))]

    def test_not_accepted_after_the_output_was_punctuated(self) -> None:
        # A  <7>@1 7@3
        accepting = spec({"on_violation": OnViolation.ACCEPT})
        output = Reference(accepting).process([ended(7, 1), row(7, 3)], [])
        assert output.rejected == [Rejected(LEFT, row(7, 3), "after_output")]

    def test_fail(self) -> None:
        with pytest.raises(PromiseBroken, match="'A'"):
            Reference(spec({"on_violation": OnViolation.FAIL})).process([ended(7, 1), row(7, 3)], [])


UNMATCHED = [("left", "A"), ("right", "B"), ("full", "AB"), ("anti", "A"), ("inner", ""), ("semi", "")]


class TestUnmatched:
    @pytest.mark.parametrize(("how", "preserved"), UNMATCHED)
    def test_at_the_punctuation(self, how: str, preserved: str) -> None:
        # A  1@0        <2>@5
        # B      2@1  <1>@4
        output = Reference(spec(how=JoinType(how))).process([row(1, 0), ended(2, 5)], [row(2, 1), ended(1, 4)])
        left, right = Unmatched(LEFT, row(1, 0), 4), Unmatched(RIGHT, row(2, 1), 5)
        assert output.unmatched == [left] * ("A" in preserved) + [right] * ("B" in preserved)

    @pytest.mark.parametrize(("how", "preserved"), UNMATCHED)
    def test_at_the_end_of_the_window(self, how: str, preserved: str) -> None:
        # A  1@0                 3@9    window 5
        # B      2@1          3@8       window 6
        sized = spec({"window": TimeWindow(5)}, {"window": TimeWindow(6)}, how=JoinType(how))
        output = Reference(sized).process([row(1, 0), row(3, 9)], [row(2, 1), row(3, 8)])
        left, right = Unmatched(LEFT, row(1, 0), 5), Unmatched(RIGHT, row(2, 1), 7)
        expected = [left] * ("A" in preserved) + [right] * ("B" in preserved)
        assert sorted(output.unmatched, key=lambda each: each.ts) == expected

    def test_at_once_after_the_ending(self) -> None:
        # A        7@3
        # B  <7>@1
        output = Reference(spec(how=JoinType.LEFT)).process([row(7, 3)], [ended(7, 1)])
        assert output.unmatched == [Unmatched(LEFT, row(7, 3), 3)]
        assert output.stored == (0, 0)

    def test_at_the_end_of_the_streams(self) -> None:
        # A  7@0       window 5
        # B       8@3
        outputs = reference.join(spec({"window": TimeWindow(5)}, how=JoinType.FULL), [([row(7, 0)], [row(8, 3)])])
        assert outputs[1].unmatched == [Unmatched(RIGHT, row(8, 3), 3), Unmatched(LEFT, row(7, 0), 3)]

    def test_a_null_key_matches_nothing(self) -> None:
        # A  -@0
        # B  -@0
        output = Reference(spec(how=JoinType.FULL)).process([row(None, 0)], [row(None, 0)])
        assert output.results == []
        assert output.unmatched == [Unmatched(LEFT, row(None, 0), 0), Unmatched(RIGHT, row(None, 0), 0)]

    def test_semi_and_anti(self) -> None:
        # A  1@0 2@0
        # B          1@1 1@2
        given_left, given_right = [row(1, 0), row(2, 0)], [row(1, 1), row(1, 2)]
        semi = reference.join(spec(how=JoinType.SEMI), [(given_left, given_right)])
        assert semi[0].results == [(row(1, 0), None)]
        assert semi[0].result_ts == [1]  # the moment of the match
        assert semi[0].stored == (1, 2)
        anti = reference.join(spec(how=JoinType.ANTI), [(given_left, given_right)])
        assert anti[0].results == []
        assert [unmatched.row for unmatched in anti[1].unmatched] == [row(2, 0)]

    def test_the_extra_predicate_decides_what_is_matched(self) -> None:
        # A  7@0 v=1
        # B           7@1 w=2
        def smaller(left: Row, right: Row) -> bool:
            return bool(left.values[2] > right.values[2])

        outputs = reference.join(spec(how=JoinType.LEFT), [([row(7, 0, 1)], [row(7, 1, 2)])], where=smaller)
        assert outputs[0].results == []
        assert outputs[1].unmatched == [Unmatched(LEFT, row(7, 0, 1), 1)]


class TestPunctuations:
    def test_lazy_purge(self) -> None:
        # A  1@0 2@0 3@0
        # B              <1>@1 | <2>@2 | <3>@3       threshold 2
        join = Reference(spec(how=JoinType.FULL, purge_threshold=2))
        assert join.process([row(1, 0), row(2, 0), row(3, 0)], [ended(1, 1)]).stored == (3, 0)
        output = join.process([], [ended(2, 2)])
        assert output.unmatched == [Unmatched(LEFT, row(1, 0), 1), Unmatched(LEFT, row(2, 0), 2)]
        assert join.process([], [ended(3, 3)]).stored == (1, 0)

    def test_an_output_punctuation_purges_its_value_first(self) -> None:
        # A  1@0        <1>@2
        # B       <1>@1            threshold 9
        lazy = spec(how=JoinType.FULL, purge_threshold=9)
        output = Reference(lazy).process([row(1, 0), ended(1, 2)], [ended(1, 1)])
        assert output.unmatched == [Unmatched(LEFT, row(1, 0), 1)]
        assert output.punctuations == [both(1, 2)]

    def test_clustered(self) -> None:
        # A  7@0 7@1 8@2 | 9@3 7@3
        # B                |
        join = Reference(spec({"clustered": True, "window": TimeWindow(1)}))
        assert join.process([row(7, 0), row(7, 1), row(8, 2)], [row(5, 2)]).punctuations == []
        output = join.process([row(9, 3), row(7, 3)], [row(5, 3)])
        assert output.rejected == [Rejected(LEFT, row(7, 3), "promise")]
        assert output.punctuations == [early(7, 3)]

    @pytest.mark.parametrize("cut", [False, True])
    def test_a_late_tuple_finds_its_cluster_open(self, cut: bool) -> None:
        # A  7@0 8@5 | 7@3           lateness 3
        # B  7@0     |
        join = Reference(spec({"clustered": True, "lateness_us": 3}))
        batches = [[row(7, 0), row(8, 5)], [row(7, 3)]]
        batches = batches if cut else [batches[0] + batches[1]]
        outputs = [join.process(batch, [row(7, 0)] if batch is batches[0] else []) for batch in batches]
        assert gather(outputs, results) == Counter([(row(7, 0), row(7, 0)), (row(7, 3), row(7, 0))])
        assert join.process([row(9, 8)], []).purged == 1  # 8@5 ends 7 once the watermark is there
        assert join.process([row(7, 8)], []).rejected == [Rejected(LEFT, row(7, 8), "promise")]

    def test_a_late_tuple_ends_at_the_next_value_that_is_known(self) -> None:
        # A  9@8 | 7@4 | 8@9 | 8@11      lateness 5 : 7 is over at 8, which takes effect at 13
        join = Reference(spec({"clustered": True, "lateness_us": 5}))
        join.process([row(9, 8)], [])
        join.process([row(7, 4)], [row(7, 4)])
        assert join.process([row(8, 9)], []).rejected == []
        assert join.process([row(7, 9)], []).rejected == [Rejected(LEFT, row(7, 9), "promise")]
        assert join.process([row(8, 12)], []).purged == 0
        assert join.process([row(8, 13)], []).purged == 1

    def test_a_rejected_tuple_does_not_end_its_own_cluster(self) -> None:
        # A  7@1 <ts<=9>@2 | 7@5 | 7@11 8@12
        join = Reference(spec({"clustered": True}))
        join.process([row(7, 1), until(9, 2)], [])
        assert join.process([row(7, 5)], []).rejected == [Rejected(LEFT, row(7, 5), "late")]
        assert join.process([row(7, 11), row(8, 12)], [row(7, 12)]).rejected == []

    def test_a_tuple_that_is_too_far_ahead_ends_no_cluster(self) -> None:
        # A  7@0 8@99 7@3            max_ahead 5
        join = Reference(spec({"clustered": True, "max_ahead_us": 5}))
        output = join.process([row(7, 0), row(8, 99), row(7, 3)], [])
        assert output.rejected == [Rejected(LEFT, row(8, 99), "ahead")]
        assert join.process([row(7, 8)], []).rejected == []

    @pytest.mark.parametrize("cut", [False, True])
    def test_every_null_key_ends_a_cluster(self, cut: bool) -> None:
        # A  -@0 | 7@1 -@2 | 7@3
        join = Reference(spec({"clustered": True}))
        nulls: Given = [row(None, 0)]
        for batch in (nulls, [row(7, 1), row(None, 2)]) if cut else ([*nulls, row(7, 1), row(None, 2)],):
            join.process(batch, [])
        assert join.process([row(7, 3)], []).rejected == [Rejected(LEFT, row(7, 3), "promise")]

    def test_an_ending_dated_in_the_future(self) -> None:
        # A  7 ends @10 | 7@9 | 8@11
        # B             |     |      <7>@1
        join = Reference(spec(right={"window": TimeWindow(20)}))
        assert join.process([ended(7, 10, in_band=False)], [row(7, 0)]).watermark is None
        assert join.process([row(7, 9)], []).results == [(row(7, 9), row(7, 0))]
        output = join.process([row(7, 11), row(8, 11)], [])
        assert output.rejected == [Rejected(LEFT, row(7, 11), "promise")]
        assert output.purged == 1

    @pytest.mark.parametrize("cut", [False, True])
    def test_a_tuple_may_come_at_the_very_time_of_an_announced_ending(self, cut: bool) -> None:
        # A  7@0      |                7 of B ends @10
        # B  7@5 7@10 | 7@10 | 8@11
        join = Reference(spec())
        said, bids = ended(7, 10, in_band=False), [row(7, 5, 0), row(7, 10, 1), row(7, 10, 2)]
        outputs = [join.process([row(7, 0)], [said, *bids[: 2 if cut else 3]])]
        outputs += [join.process([], bids[2:])] if cut else []
        assert len(gather(outputs, results)) == 3
        assert outputs[-1].stored[LEFT] == 1
        assert join.process([], [row(8, 11)]).stored[LEFT] == 0

    @pytest.mark.parametrize("key", [7, Range(7, 8)])
    @pytest.mark.parametrize(("in_band", "taken"), [(True, 0), (False, 1)])
    def test_inside_the_stream_an_ending_takes_effect_at_its_time(
        self, key: int | Pattern, in_band: bool, taken: int
    ) -> None:
        # A  7@0
        # B  <7>@3 8@3 | 7@3
        join = Reference(spec())
        output = join.process([row(7, 0)], [ended(key, 3, in_band), row(9, 3)])
        assert output.stored[LEFT] == taken
        assert len(join.process([], [row(7, 3)]).results) == taken

    @pytest.mark.parametrize("cut", [False, True])
    def test_an_early_time_does_not_depend_on_when_an_announced_ending_takes_effect(self, cut: bool) -> None:
        # A  7@0    9@6 |            window 5, 7 of A ends @5
        # B             | 9@7
        join = Reference(spec({"window": TimeWindow(5)}))
        ours: Given = [row(7, 0), ended(7, 5, in_band=False), row(9, 6)]
        theirs: Given = [row(9, 7)]
        batches: list[tuple[Given, Given]] = [(ours, []), ([], theirs)] if cut else [(ours, theirs)]
        assert gather([join.process(*batch) for batch in batches], punctuations) == Counter([early(7, 6)])

    def test_of_an_announced_ending_and_one_inside_the_stream_the_earlier_effect_wins(self) -> None:
        # B  7 ends @3, <7>@3
        for said in ([ended(7, 3, in_band=False), ended(7, 3)], [ended(7, 3), ended(7, 3, in_band=False)]):
            assert Reference(spec()).process([row(7, 0)], said).stored == (0, 0)

    def test_of_two_pending_endings_the_earlier_is_kept(self) -> None:
        # A  7 ends @10, 7 ends @8 | 9@9
        join = Reference(spec())
        join.process([ended(7, 10, in_band=False), ended(7, 8, in_band=False)], [])
        assert join.process([row(9, 9)], []).punctuations == [early(7, 8)]

    def test_time(self) -> None:
        # A  7@0                      window 5
        # B      <ts<=5>@1 | 7@5 7@6
        join = Reference(spec({"window": TimeWindow(5)}, how=JoinType.LEFT))
        assert join.process([row(7, 0)], [until(5, 1)]).unmatched == [Unmatched(LEFT, row(7, 0), 5)]
        assert join.process([], [row(7, 5), row(7, 6)]).rejected == [Rejected(RIGHT, row(7, 5), "late")]

    def test_time_in_the_same_batch(self) -> None:
        # A  <ts<5>@1 7@4 7@5
        output = Reference(spec()).process([until(5, 1, closed=False), row(7, 4), row(7, 5)], [])
        assert output.rejected == [Rejected(LEFT, row(7, 4), "promise")]

    def test_empty_says_nothing(self) -> None:
        output = Reference(spec()).process([ended(EMPTY, 1), row(7, 2)], [])
        assert output.punctuations == []
        assert output.stored == (1, 0)

    def test_a_list_ends_value_by_value(self) -> None:
        # A  <{1,3}>@2
        assert Reference(spec()).process([ended(OneOf((1, 3)), 2)], []).punctuations == [early(1, 2), early(3, 2)]

    def test_the_end_of_a_stream(self) -> None:
        # A  1@0 2@0 <2>@1            3@4
        # B                 <*>@3
        output = Reference(spec(how=JoinType.LEFT)).process([row(1, 0), row(2, 0), ended(2, 1), row(3, 4)], [over(3)])
        assert output.unmatched == [
            Unmatched(LEFT, row(1, 0), 3),
            Unmatched(LEFT, row(2, 0), 3),
            Unmatched(LEFT, row(3, 4), 4),
        ]
        assert output.punctuations == [both(2, 3)]
        assert output.stored == (0, 0)
        assert output.watermark == 4


class TestRanges:
    def test_a_range_purges_and_discards(self) -> None:
        # A  1@0 5@0            2@3
        # B           <[1,4)>@2
        output = Reference(spec()).process(
            [row(1, 0), row(5, 0), row(2, 3)], [ended(Range(1, 4, high_closed=False), 2)]
        )
        assert output.stored == (1, 0)
        assert (output.purged, output.discarded) == (1, 1)
        assert output.punctuations == [early(1, 2)]  # the only value with a name; B never had it

    def test_a_tuple_of_the_range_breaks_the_promise(self) -> None:
        # A  <[1,-)>@2 0@3 1@3 9@3
        output = Reference(spec()).process([ended(Range(1), 2), row(0, 3), row(1, 3), row(9, 3)], [])
        assert [rejected.row for rejected in output.rejected] == [row(1, 3), row(9, 3)]

    def test_two_ranges_meet(self) -> None:
        # A  <[0,4]>@2  3@1
        # B             3@1  <(2,9]>@3 | <3>@5
        join = Reference(spec())
        output = join.process([row(3, 1), ended(Range(0, 4), 2)], [row(3, 1), ended(Range(2, 9, low_closed=False), 3)])
        common = (Range(3, 4),)
        assert output.punctuations == [OutputPunctuation(None, 3, "both", common)]
        assert output.stored == (0, 0)
        assert join.process([], [ended(3, 5)]).punctuations == []

    def test_ranges_that_are_apart_say_nothing(self) -> None:
        # A  <[0,4)>@2
        # B             <[4,9]>@3
        output = Reference(spec()).process([ended(Range(0, 4, high_closed=False), 2)], [ended(Range(4, 9), 3)])
        assert output.punctuations == []

    def test_a_range_that_is_covered_is_not_said_again(self) -> None:
        # A  <[0,9]>@1  <[2,3]>@3
        # B             <[0,9]>@2
        output = Reference(spec()).process([ended(Range(0, 9), 1), ended(Range(2, 3), 3)], [ended(Range(0, 9), 2)])
        assert [punctuation.ts for punctuation in output.punctuations] == [2]

    def test_neighbours_come_out_together(self) -> None:
        # A  <[0,4)>@1  <[4,9]>@2
        # B                        <[2,20]>@3
        given_left = [ended(Range(0, 4, high_closed=False), 1), ended(Range(4, 9), 2)]
        output = Reference(spec()).process(given_left, [ended(Range(2, 20), 3)])
        assert output.punctuations == [OutputPunctuation(None, 3, "both", (Range(2, 9),))]

    def test_each_value_comes_out_once(self) -> None:
        # A  <[0,9]>@1
        # B             <[4,5]>@2  <[3,7]>@3
        output = Reference(spec()).process([ended(Range(0, 9), 1)], [ended(Range(4, 5), 2), ended(Range(3, 7), 3)])
        assert [p.patterns for p in output.punctuations] == [(Range(4, 5),), (Range(3, 3),), (Range(6, 7),)]

    def test_an_ending_dated_before_settled_ranges_comes_out_at_their_time(self) -> None:
        # A  <[0,3]>@2  <[4,9]>@5  |
        # B                     7@6 | <1>@3
        join = Reference(spec())
        join.process([ended(Range(0, 3), 2), ended(Range(4, 9), 5)], [row(7, 6)])
        assert join.process([], [ended(1, 3)]).punctuations == [both(1, 5)]

    def test_a_value_meets_a_range(self) -> None:
        # A  <[0,4]>@2  <[3,8]>@1
        # B                         <3>@5
        output = Reference(spec(how=JoinType.FULL)).process(
            [ended(Range(0, 4), 2), ended(Range(3, 8), 1)], [ended(3, 5), ended(9, 5)]
        )
        assert output.punctuations == [both(3, 5)]

    def test_a_range_finishes_groups(self) -> None:
        outputs = [
            BatchOutput(results=[(row(1, 0), row(1, 0)), (row(9, 0), row(9, 0))], result_ts=[0, 0], watermark=0),
            BatchOutput(punctuations=[OutputPunctuation(None, 3, "both", (Range(0, 4),))], watermark=3),
        ]
        assert groups(spec(), outputs, ["k"], COUNT) == [[], [{"k": 1, "n": 1}]]


class TestMemory:
    def test_the_oldest_entry_is_forgotten(self) -> None:
        # A  <1>@0 <3>@1 <5>@2 | 1@3 3@3      room for 2
        join = Reference(spec(max_punctuations=2))
        assert join.process([ended(1, 0), ended(3, 1), ended(5, 2)], []).forgotten == 1
        assert join.process([row(1, 3), row(3, 3)], []).rejected == [Rejected(LEFT, row(3, 3), "promise")]

    def test_consecutive_integers_are_one_entry(self) -> None:
        # A  <{1,2,3}>@0 <5>@1
        given_left = [ended(OneOf((1, 2, 3)), 0), ended(5, 1)]
        assert Reference(spec(max_punctuations=2)).process(given_left, []).forgotten == 0
        assert Reference(spec(max_punctuations=2), integer_key=False).process(given_left, []).forgotten == 2

    def test_values_not_yet_punctuated_are_entries_of_their_own(self) -> None:
        # A  <{1,2,3}>@0     a full join needs B's word
        full = spec(max_punctuations=2, how=JoinType.FULL)
        join = Reference(full)
        assert join.process([ended(OneOf((1, 2, 3)), 0)], []).forgotten == 1
        assert sorted(join.values) == [(2,), (3,)]

    def test_everything_else_counts_too(self) -> None:
        # A  <v=1>@0  <[0,4]>@1
        # B                      <[2,9]>@2 : two ranges, their intersection, a promise
        promise = Punctuation(0, (WILDCARD, WILDCARD, Constant(1), WILDCARD))
        given_left, given_right = [promise, ended(Range(0, 4), 1)], [ended(Range(2, 9), 2)]
        assert Reference(spec(max_punctuations=4)).process(given_left, given_right).forgotten == 0
        join = Reference(spec(max_punctuations=3))
        assert join.process(given_left, given_right).forgotten == 1
        assert join.streams[LEFT].promises == []

    def test_ranges_side_by_side_are_one_entry_once_they_are_settled(self) -> None:
        # A  <[0,1]>@0  <[2,3]>@1  <[5,6]>@2
        # B                                   9@1
        given_left = [ended(Range(0, 1), 0), ended(Range(2, 3), 1), ended(Range(5, 6), 2)]
        assert Reference(spec(max_punctuations=2)).process(given_left, []).forgotten == 1
        join = Reference(spec(max_punctuations=2))
        assert join.process(given_left, [row(9, 1)]).forgotten == 0
        assert [piece.patterns for piece in join.covered] == [(Range(0, 3),), (Range(5, 6),)]

    def test_an_output_range_is_remembered_in_the_place_of_its_values(self) -> None:
        # A  1@0  3@0  <[0,4]>@1
        # B  1@0  3@0             <[0,4]>@2
        join = Reference(spec(max_punctuations=1))
        rows = [row(1, 0), row(3, 0)]
        assert join.process([*rows, ended(Range(0, 4), 1)], [*rows, ended(Range(0, 4), 2)]).forgotten == 0
        assert join.values == {}


def test_every_aggregate() -> None:
    # A  1@0 v=5   1@1 v=-        2@9
    # B                   1@2
    given_left = [row(1, 0, 5), row(1, 1), row(2, 9, 4)]
    how = spec(how=JoinType.LEFT)
    outputs = reference.join(how, [(given_left, [row(1, 2, 7)])])
    functions = {name: (name, "v") for name in ("count", "sum", "min", "max", "mean", "first", "last")}
    groups_of_v = groups(how, outputs, ["k"], functions | {"rows": ("count", None), "latest": ("max", "ts_right")})
    one = {"k": 1, "count": 1, "sum": 5, "min": 5, "max": 5, "mean": 5.0, "first": 5, "last": None, "rows": 2}
    two = {"k": 2, "count": 1, "sum": 4, "min": 4, "max": 4, "mean": 4.0, "first": 4, "last": 4, "rows": 1}
    assert groups_of_v == [[], [one | {"latest": 2}, two | {"latest": None}]]


# Laws

MORE = settings(max_examples=2 * settings().max_examples)


def gather(outputs: Sequence[BatchOutput], part: Callable[[BatchOutput], Iterable[Hashable]]) -> Counter[Hashable]:
    return Counter(each for output in outputs for each in part(output))


def results(output: BatchOutput) -> Iterable[Hashable]:
    return output.results


def unmatched_rows(output: BatchOutput) -> Iterable[Hashable]:
    return [(unmatched.side, unmatched.row) for unmatched in output.unmatched]


def punctuations(output: BatchOutput) -> Iterable[Hashable]:
    return output.punctuations


def punctuated_values(output: BatchOutput) -> Iterable[Hashable]:
    return [(punctuation.key, punctuation.patterns) for punctuation in output.punctuations]


def cuts() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 24), max_size=6)


def run(case: HonestCase, at: Sequence[int]) -> list[BatchOutput]:
    return reference.join(case.spec, case.cut(at))


@MORE
@given(cases())
def test_nothing_is_stored_after_the_end(case: Case) -> None:
    outputs = reference.join(case.spec, case.batches)
    assert outputs[-1].stored == (0, 0)
    assert outputs[-1].watermark == math.inf


@MORE
@given(cases(policies=(OnViolation.REJECT,)))
def test_no_result_follows_its_punctuation(case: Case) -> None:
    unbounded = replace(case.spec, max_punctuations=1000)
    over: set[Any] = set()
    for output in reference.join(unbounded, case.batches):
        keys = [left.values[0] for left, _ in output.results if left is not None]
        assert not over & {*keys, *(unmatched.row.values[0] for unmatched in output.unmatched)}
        said = [punctuation.key[0] for punctuation in output.punctuations if punctuation.key is not None]
        assert len(said) == len(set(said))
        assert not over & set(said)
        over |= set(said)


@MORE
@given(honest_cases(), cuts(), cuts())
def test_honest_results_do_not_depend_on_cuts_or_punctuations(case: HonestCase, one: list[int], two: list[int]) -> None:
    silent = case.without_punctuations()
    ways = [run(case, one), run(case, two), run(silent, one)]
    assert not any(output.rejected for way in ways for output in way)
    for part in (results, unmatched_rows):
        first, second, third = (gather(way, part) for way in ways)
        assert first == second == third


@given(honest_cases(small_memory=True), cuts())
def test_forgetting_punctuations_does_not_change_honest_results(case: HonestCase, at: list[int]) -> None:
    forgetful, silent = run(case, at), run(case.without_punctuations(), at)
    assert gather(forgetful, results) == gather(silent, results)
    assert gather(forgetful, unmatched_rows) == gather(silent, unmatched_rows)


@MORE
@given(honest_cases(disorder=False, prompt=True), cuts(), cuts())
def test_honest_punctuations_in_order_do_not_depend_on_cuts(case: HonestCase, one: list[int], two: list[int]) -> None:
    """Nor do those under a range, but for the values that were stored when it took effect: they are said one by one.

    A cut may keep the other stream's next object, and so the proof that a stored tuple has left its window, for later.
    """

    def whatever_is_stored(output: BatchOutput) -> Iterable[Hashable]:
        return [each for each in output.punctuations if each.key is None or not case.is_under_a_range(each.key[0])]

    assert gather(run(case, one), whatever_is_stored) == gather(run(case, two), whatever_is_stored)


@given(honest_cases(with_ranges=False, with_ends=False), cuts(), cuts())
def test_honest_punctuated_values_do_not_depend_on_cuts(case: HonestCase, one: list[int], two: list[int]) -> None:
    """Where an ending waits for its effect it is open which of two rules speaks first, and so time and reason are."""
    assert gather(run(case, one), punctuated_values) == gather(run(case, two), punctuated_values)
