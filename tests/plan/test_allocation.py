"""Allocations: the numbers of figures 5 to 7, and what holds of every strategy."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.kang.limited_output import cpu_limited_output_rate, limited_output_rate, memory_limited_output_rate
from punctuated.errors import CostError
from punctuated.plan import cost
from punctuated.plan.allocation import STRATEGIES, Allocation, allocate, allocate_memory, allocate_rate

Two = tuple[float, float]
amounts = st.floats(0, 1e5).map(lambda x: round(x, 3))
two_amounts = st.tuples(amounts, amounts)
limits = st.floats(0.01, 3e5)
floor_shares = st.floats(0, 0.5)  # of the limit, so that both streams' floors fit into it


def results(rates: Two, windows: Two) -> float:
    return cost.output_rate(rates=rates, windows=windows, selectivity=1)


FIGURE_FIVE = {"max-left": 200, "max-right": 100, "by-rate": 180, "by-window": 400 / 3, "equal": 150, "optimal": 200}
FIGURE_SIX = {
    "max-left": 250,
    "max-right": 50,
    "by-rate": 250 / 3,
    "inverse-rate": 650 / 3,
    "equal": 150,
    "optimal": 250,
}
FIGURE_SEVEN = {
    "left-window/right-rate": 10,
    "right-window/left-rate": 10,
    "left-window/left-rate": 0,
    "right-window/right-rate": 0,
    "equal": 5,
    "optimal": 10,
}


def test_figures_cover_every_strategy() -> None:
    assert [set(FIGURE_FIVE), set(FIGURE_SIX), set(FIGURE_SEVEN)] == [set(names) for names in STRATEGIES.values()]


@pytest.mark.parametrize(("strategy", "expected"), FIGURE_FIVE.items())
def test_figure_five(strategy: str, expected: float) -> None:
    """KN-37."""
    rates, windows = (800.0, 200.0), (100.0, 200.0)
    effective = allocate_rate(strategy, rates, windows, rate=100)
    put_out = cpu_limited_output_rate(effective, rates=rates, windows=windows, rate=100, selectivity=0.01)
    assert put_out == pytest.approx(expected)


@pytest.mark.parametrize(("strategy", "expected"), FIGURE_SIX.items())
def test_figure_six(strategy: str, expected: float) -> None:
    """KN-40."""
    rates = (10.0, 50.0)
    sigma = cost.selectivity(1 / 0.005, 1 / 0.01)
    kept = allocate_memory(strategy, rates, windows=(1000, 1000), tuples=1000)
    put_out = memory_limited_output_rate(kept, rates=rates, tuples=1000, selectivity=sigma)
    assert put_out == pytest.approx(expected)


@pytest.mark.parametrize(("strategy", "expected"), FIGURE_SEVEN.items())
def test_figure_seven(strategy: str, expected: float) -> None:
    """KN-42."""
    given_out = allocate(strategy, rates=(10, 10), windows=(100, 100), rate=10, tuples=100)
    put_out = limited_output_rate(
        given_out.rates, given_out.windows, rates=(10, 10), rate=10, tuples=100, selectivity=0.01
    )
    assert put_out == pytest.approx(expected)


@pytest.mark.parametrize(
    ("figure", "more"), [(FIGURE_FIVE, 0.33), (FIGURE_SIX, 0.67), (FIGURE_SEVEN, 1.0)], ids=["5", "6", "7"]
)
def test_how_much_more_than_equal_shares(figure: dict[str, float], more: float) -> None:
    """KN-43: the paper measured 90 % more at best."""
    assert figure["optimal"] / figure["equal"] - 1 == pytest.approx(more, abs=0.005)


def test_the_papers_example_with_and_without_a_floor() -> None:
    """KN-36."""
    rates, windows = (200.0, 200.0), (500.0, 1000.0)
    without = allocate_rate("optimal", rates, windows, rate=100)
    assert without == (100, 0)
    assert results(without, windows) == 100_000
    with_floor = allocate_rate("optimal", rates, windows, rate=100, floor=10)
    assert with_floor == (90, 10)
    assert results(with_floor, windows) == 95_000


def test_what_a_stream_cannot_use_goes_to_the_other() -> None:
    assert allocate_rate("max-left", (30, 200), (1, 1), rate=100) == (30, 70)
    assert allocate_rate("equal", (200, 30), (1, 1), rate=100) == (70, 30)
    assert allocate_memory("inverse-rate", (1, 9), (50, 500), tuples=100) == (50, 50)


def test_nothing_is_shed_without_need() -> None:
    own = Allocation((30.0, 20.0), (500.0, 100.0))
    assert allocate("optimal", (30, 20), (500, 100)) == own
    assert allocate("max-right", (30, 20), (500, 100), rate=60) == own
    assert allocate("equal", (30, 20), (500, 100), rate=60, tuples=1000) == own


def test_one_limit_leaves_the_other_resource_alone() -> None:
    assert allocate("max-left", (30, 20), (500, 100), rate=40) == Allocation((30, 10), (500, 100))
    assert allocate("max-left", (30, 20), (500, 100), tuples=550) == Allocation((30, 20), (500, 50))


def test_ties_shed_alike() -> None:
    """With equal windows, or equal rates, every split puts out the same (KN-35, KN-39)."""
    assert allocate_rate("optimal", (80, 20), (7, 7), rate=50) == (40, 10)
    assert allocate_memory("optimal", (7, 7), (80, 20), tuples=30) == (15, 15)


def test_the_bounds_decide_between_the_crossed_corners() -> None:
    """Unbounded, both crossed ones are the same; here the left stream has hardly any tuples to probe with."""
    found = allocate("optimal", rates=(1, 100), windows=(100, 100), rate=50, tuples=100)
    assert found == allocate("left-window/right-rate", rates=(1, 100), windows=(100, 100), rate=50, tuples=100)
    mirrored = allocate("optimal", rates=(100, 1), windows=(100, 100), rate=50, tuples=100)
    assert mirrored == Allocation(found.rates[::-1], found.windows[::-1])


def test_an_uncrossed_corner_can_be_the_best() -> None:
    """A left stream that is slow and small: take all of it, keep all of it, and the rest is for the other one."""
    found = allocate("optimal", rates=(10, 90), windows=(40, 1000), rate=50, tuples=100)
    assert found == Allocation((10, 40), (40, 60))
    assert results(found.rates, found.windows) == 2200
    crossed = allocate("left-window/right-rate", rates=(10, 90), windows=(40, 1000), rate=50, tuples=100)
    assert results(crossed.rates, crossed.windows) == 2000


@given(st.sampled_from(STRATEGIES["rate"]), two_amounts, two_amounts, limits, floor_shares)
def test_effective_rates_keep_their_bounds(strategy: str, rates: Two, windows: Two, rate: float, share: float) -> None:
    check_bounds(allocate_rate(strategy, rates, windows, rate, share * rate), rates, rate, share * rate)


@given(st.sampled_from(STRATEGIES["tuples"]), two_amounts, two_amounts, limits, floor_shares)
def test_kept_tuples_keep_their_bounds(strategy: str, rates: Two, windows: Two, tuples: float, share: float) -> None:
    check_bounds(allocate_memory(strategy, rates, windows, tuples, share * tuples), windows, tuples, share * tuples)


@given(st.sampled_from(STRATEGIES["both"]), two_amounts, two_amounts, limits, limits, floor_shares)
def test_both_keep_their_bounds(
    strategy: str, rates: Two, windows: Two, rate: float, tuples: float, share: float
) -> None:
    floor = share * min(rate, tuples)
    found = allocate(strategy, rates, windows, rate, tuples, floor)
    check_bounds(found.rates, rates, rate, floor)
    check_bounds(found.windows, windows, tuples, floor)


def check_bounds(given_out: Two, own: Two, limit: float, floor: float) -> None:
    assert sum(given_out) == pytest.approx(min(limit, sum(own)))
    for got, bound in zip(given_out, own, strict=True):
        assert got <= bound
        assert got >= min(floor, bound) - 1e-9 * limit


@given(two_amounts, two_amounts, limits, floor_shares)
def test_no_strategy_for_the_rate_beats_the_optimal_one(rates: Two, windows: Two, rate: float, share: float) -> None:
    found = {each: allocate_rate(each, rates, windows, rate, share * rate) for each in STRATEGIES["rate"]}
    put_out = {each: results(effective, windows) for each, effective in found.items()}
    assert put_out["optimal"] >= max(put_out.values()) * (1 - 1e-9)


@given(two_amounts, two_amounts, limits, floor_shares)
def test_no_strategy_for_memory_beats_the_optimal_one(rates: Two, windows: Two, tuples: float, share: float) -> None:
    found = {each: allocate_memory(each, rates, windows, tuples, share * tuples) for each in STRATEGIES["tuples"]}
    put_out = {each: results(rates, kept) for each, kept in found.items()}
    assert put_out["optimal"] >= max(put_out.values()) * (1 - 1e-9)


whole = st.integers(0, 12)
two_whole = st.tuples(whole, whole)


@given(two_whole, two_whole, st.integers(2, 12), st.integers(2, 12), st.integers(0, 1))
def test_no_allocation_at_all_beats_the_optimal_one(
    rates: tuple[int, int], windows: tuple[int, int], rate: int, tuples: int, floor: int
) -> None:
    """By trying all allocations of whole tuples; every strategy's output is among what these bound."""
    optimal = allocate("optimal", rates, windows, rate, tuples, floor)
    most = max(
        results(effective, kept)
        for effective in splits(rates, min(rate, sum(rates)), floor)
        for kept in splits(windows, min(tuples, sum(windows)), floor)
    )
    assert results(optimal.rates, optimal.windows) == pytest.approx(most)
    for strategy in STRATEGIES["both"]:
        found = allocate(strategy, rates, windows, rate, tuples, floor)
        assert results(found.rates, found.windows) <= most + 1e-9


def splits(own: tuple[int, int], total: int, floor: int) -> list[Two]:
    return [
        (left, total - left)
        for left in range(total + 1)
        if min(floor, own[0]) <= left <= own[0] and min(floor, own[1]) <= total - left <= own[1]
    ]


MIRRORED = {
    "max-left": "max-right",
    "max-right": "max-left",
    "left-window/right-rate": "right-window/left-rate",
    "right-window/left-rate": "left-window/right-rate",
    "left-window/left-rate": "right-window/right-rate",
    "right-window/right-rate": "left-window/left-rate",
}


@given(st.sampled_from(STRATEGIES["rate"]), two_amounts, two_amounts, limits)
def test_effective_rates_are_mirrored_with_the_streams(strategy: str, rates: Two, windows: Two, rate: float) -> None:
    ours = allocate_rate(strategy, rates, windows, rate)
    mirrored = allocate_rate(MIRRORED.get(strategy, strategy), rates[::-1], windows[::-1], rate)
    assert ours == pytest.approx(mirrored[::-1], abs=1e-9 * rate)


BAD_INPUT: list[tuple[Callable[[], object], str]] = [
    (lambda: allocate_rate("best", (1, 1), (1, 1), 1), "known are: optimal, max-left"),
    (lambda: allocate_rate("inverse-rate", (1, 1), (1, 1), 1), "no strategy for the rate"),
    (lambda: allocate_memory("by-window", (1, 1), (1, 1), 1), "no strategy for memory"),
    (lambda: allocate("by-rate", (1, 1), (1, 1), rate=1, tuples=1), "left-window/right-rate"),
    (lambda: allocate_rate("equal", (1, 1), (1, 1), 0), "rate=0"),
    (lambda: allocate_rate("equal", (1, 1), (1, 1), math.nan), "rate=nan"),
    (lambda: allocate_memory("equal", (1, 1), (1, 1), -5), "tuples=-5"),
    (lambda: allocate_rate("equal", (-1, 1), (1, 1), 1), "rates[0]=-1"),
    (lambda: allocate_memory("equal", (1, 1), (1, math.nan), 1), "windows[1]=nan"),
    (lambda: allocate("optimal", (1, math.nan), (1, 1)), "rates[1]=nan"),
    (lambda: allocate_rate("equal", (1, 1), (1, 1), 1, floor=-1), "floor=-1"),
    (lambda: allocate_rate("equal", (90, 90), (1, 1), 100, floor=60), "takes 120, more than rate=100"),
    (lambda: allocate_memory("equal", (1, 1), (90, 40), 100, floor=70), "takes 110, more than tuples=100"),
]


@pytest.mark.parametrize(("call", "words"), BAD_INPUT)
def test_bad_input_is_refused_with_its_name(call: Callable[[], object], words: str) -> None:
    with pytest.raises(CostError) as refusal:
        call()
    assert words in str(refusal.value)
