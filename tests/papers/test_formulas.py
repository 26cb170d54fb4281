"""The equations of Kang, Naughton and Viglas that no plan goes by, against the cost model and the paper's numbers."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.kang.formulas import (
    btree_cost,
    hash_cost,
    hh_ht_ratio,
    ht_nt_ratio,
    nested_loops_cost,
    th_hh_ratio,
    tn_th_ratio,
    ttree_cost,
)
from papers.kang.limited_output import (
    cpu_limited_output_rate,
    limited_output_rate,
    memory_limited_output_rate,
    output_rate_of_left_rate,
    output_rate_of_left_window,
    output_rate_of_split,
    split_resources,
)
from punctuated.errors import CostError
from punctuated.plan import cost

amounts = st.floats(0, 1e6)
two_amounts = st.tuples(amounts, amounts)


@pytest.mark.parametrize(
    ("one_way", "expected"),
    [
        (nested_loops_cost(7, 11, 5000), 7 * 5000 * 3e-4 + 2 * 11 * 1e-4),
        (hash_cost(7, 11), 7 * 10 * 5.5e-4 + 2 * 11 * 7.8e-4),
        (hash_cost(7, 11, bucket_size=2), 7 * 2 * 5.5e-4 + 2 * 11 * 7.8e-4),
        (btree_cost(7, 11, 5000), (7 + 2 * 11) * 2 * 7 * 2.6e-4),
        (btree_cost(7, 11, 10_100), (7 + 2 * 11) * 2 * 7 * 2.6e-4),
        (
            btree_cost(7, 11, 10_101),
            (7 + 2 * 11) * 3 * 7 * 2.6e-4,
        ),  # 102 leaves are one too many for 101 pointers
        (btree_cost(7, 11, 5000, matches=5), (7 + 2 * 11) * 14 * 2.6e-4 + 7 * 5 * 2.6e-4),
        (ttree_cost(7, 11, 5000), 7 * 14.5 * 2.6e-4 + 2 * 11 * 14.5 * 2.7e-4),
        (ttree_cost(7, 11, 5000, node_size=50), 7 * 15 * 2.6e-4 + 2 * 11 * 15 * 2.7e-4),
        (ttree_cost(7, 11, 5000, matches=5), 7 * 19.5 * 2.6e-4 + 2 * 11 * 14.5 * 2.7e-4),
    ],
)
def test_one_way_costs(one_way: float, expected: float) -> None:
    """Eq. (3) to (6) with the weights of Eq. (7)."""
    assert one_way == pytest.approx(expected)


@given(st.integers(20, 10**6), st.integers(20, 10**6), st.sampled_from([16, 50, 100, 128]))
def test_closed_forms_are_where_both_pairs_cost_the_same(a: int, b: int, node_size: int) -> None:
    """Eq. (8) to (11), corrected."""
    closed_forms = {
        ("TN", "TH"): tn_th_ratio(b),
        ("TH", "HH"): th_hh_ratio(a, node_size=node_size),
        ("HH", "HT"): hh_ht_ratio(b, node_size=node_size),
        ("HT", "NT"): ht_nt_ratio(a),
    }
    for couple, ratio in closed_forms.items():
        if 0 < ratio < math.inf:
            left, right = (
                cost.unit_time_cost(pair, windows=(a, b), rates=(ratio, 1), node_size=node_size) for pair in couple
            )
            assert left == pytest.approx(right, rel=1e-6)


@given(st.integers(0, 10**9), st.integers(2, 10**4))
def test_a_ratio_of_zero_or_infinity_says_that_one_pair_always_wins(window: int, node_size: int) -> None:
    for ratio, couple in (
        (tn_th_ratio(window), ("TN", "TH")),
        (th_hh_ratio(window, node_size=node_size), ("TH", "HH")),
        (hh_ht_ratio(window, node_size=node_size), ("HH", "HT")),
        (ht_nt_ratio(window), ("HT", "NT")),
    ):
        assert ratio >= 0
        for rates in ((1, 999), (500, 500), (999, 1)):
            before, after = (
                cost.unit_time_cost(pair, windows=(window, window), rates=rates, node_size=node_size) for pair in couple
            )
            if ratio in (0, math.inf):
                assert (before < after) is (ratio == math.inf)


def test_numbers_of_the_closed_forms() -> None:
    """KN-26, KN-29, XD-02."""
    assert tn_th_ratio(500) == pytest.approx(0.009412, abs=5e-7)
    assert 1 / tn_th_ratio(500) == pytest.approx(106.25)
    assert ht_nt_ratio(5000) == pytest.approx((3 * 5000 - 55) / 13.6)
    printed, corrected = th_hh_ratio(5000, printed=True), th_hh_ratio(5000)
    assert (round(printed, 3), round(corrected, 3)) == (0.395, 0.276)
    assert [f"{ratio / (1 + ratio):.1%}" for ratio in (printed, corrected)] == ["28.3%", "21.6%"]
    assert hh_ht_ratio(5000, printed=True) == pytest.approx(1 / printed)


def test_the_inner_crossovers_move_left_with_the_printed_formulas_too() -> None:
    """XD-03."""
    assert th_hh_ratio(7000, printed=True) < th_hh_ratio(5000, printed=True)
    assert hh_ht_ratio(3000, printed=True) < hh_ht_ratio(5000, printed=True)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 1e4), st.floats(0.1, 1e6), two_amounts, st.floats(1e-9, 1))
def test_rewritten_equations_equal_the_first_ones(
    x: float, y: float, rate: float, tuples: float, others: tuple[float, float], sigma: float
) -> None:
    """Eq. (14), (16) and (19) are Eq. (13), (15) and (17) with the constraints put in."""
    left_rate, left_window = x * rate, y * tuples
    effective, kept = (left_rate, rate - left_rate), (left_window, tuples - left_window)
    own = (2 * rate, 2 * rate)
    assert output_rate_of_left_rate(left_rate, windows=others, rate=rate, selectivity=sigma) == pytest.approx(
        cpu_limited_output_rate(effective, rates=own, windows=others, rate=rate, selectivity=sigma),
        abs=1e-9 * rate * max(1, *others),
    )
    assert output_rate_of_left_window(left_window, rates=others, tuples=tuples, selectivity=sigma) == pytest.approx(
        memory_limited_output_rate(kept, rates=others, tuples=tuples, selectivity=sigma),
        abs=1e-9 * tuples * max(1, *others),
    )
    split_rates, split_windows = split_resources(x, left_window, rate=rate, tuples=tuples)
    assert split_rates == pytest.approx(effective, abs=1e-9 * rate)
    assert split_windows == pytest.approx(kept)
    by_split = output_rate_of_split(x, left_window, rate=rate, tuples=tuples, selectivity=sigma)
    assert by_split == pytest.approx(
        limited_output_rate(split_rates, split_windows, rates=own, rate=rate, tuples=tuples, selectivity=sigma),
        abs=1e-9 * rate * tuples,
    )
    assert by_split <= sigma * rate * tuples * (1 + 1e-9)  # KN-41


@given(st.floats(0, 100), st.floats(0, 100))
def test_with_equal_windows_or_rates_the_split_does_not_matter(one: float, two: float) -> None:
    """KN-35, KN-39."""
    by_rate = [output_rate_of_left_rate(x, windows=(500, 500), rate=100, selectivity=0.01) for x in (one, two)]
    assert by_rate == [pytest.approx(0.01 * 100 * 500)] * 2
    by_window = [output_rate_of_left_window(x, rates=(7, 7), tuples=100, selectivity=0.01) for x in (one, two)]
    assert by_window == [pytest.approx(0.01 * 7 * 100)] * 2


NAN = math.nan
BAD_INPUT: list[tuple[Callable[[], object], str]] = [
    (lambda: ttree_cost(1, 1, 1, node_size=0), "give 2 or more"),
    (lambda: nested_loops_cost(-1, 1, 1), "probe_rate=-1"),
    (lambda: nested_loops_cost(1, NAN, 1), "update_rate=nan"),
    (lambda: th_hh_ratio(5000, node_size=1), "node_size=1"),
    (lambda: hh_ht_ratio(-5), "right_window=-5"),
    (lambda: output_rate_of_left_rate(1, windows=(1, 1), rate=0, selectivity=1), "rate=0"),
    (lambda: output_rate_of_left_rate(3, windows=(1, 1), rate=2, selectivity=1), "more than rate=2"),
    (lambda: output_rate_of_left_window(1, rates=(1, 1), tuples=-1, selectivity=1), "tuples=-1"),
    (lambda: split_resources(1.5, 1, rate=1, tuples=1), "share=1.5: give a number between 0 and 1"),
    (lambda: split_resources(0.5, 2, rate=1, tuples=1), "more than tuples=1"),
    (
        lambda: cpu_limited_output_rate((60, 60), rates=(80, 80), windows=(1, 1), rate=100, selectivity=1),
        "effective_rates takes 120",
    ),
    (
        lambda: cpu_limited_output_rate((60, 40), rates=(50, 80), windows=(1, 1), rate=100, selectivity=1),
        "effective_rates[0] takes 60",
    ),
    (
        lambda: memory_limited_output_rate((60, 60), rates=(1, 1), tuples=100, selectivity=1),
        "windows takes 120",
    ),
    (
        lambda: limited_output_rate((1, 1), (60, 60), rates=(1, 1), rate=2, tuples=100, selectivity=1),
        "windows takes 120",
    ),
]


@pytest.mark.parametrize(("call", "words"), BAD_INPUT)
def test_bad_input_is_refused_with_its_name(call: Callable[[], object], words: str) -> None:
    with pytest.raises(CostError) as refusal:
        call()
    assert words in str(refusal.value)
