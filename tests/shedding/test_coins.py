"""Coins: a pure function of the tuples, fair to the share, independent of each other."""

from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.errors import ShedError
from punctuated.kernels.layout import Objects
from punctuated.kernels.order import merge_two
from punctuated.model.shed import Shed, shed
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.shedding.coins import Coins, Shares, flip_coins, right_probes, row_ids, turns

N = 20_000
ROWS = pa.table({"k": np.arange(N) % 50, "ts": np.arange(N)})
UNLIKELY = 20.0  # chi-square with one degree of freedom exceeds it in 8 of a million cases


def flip(rows: pa.Table, probe: float, store: float = 1.0, side: Side = LEFT, seed: int = 0) -> Coins:
    return flip_coins(rows, side, seed, Shares((probe, probe), (store, store)))


def deviation(one: npt.NDArray[np.bool_], two: npt.NDArray[np.bool_]) -> float:
    """Chi-square of the hypothesis that two coins are independent."""
    return float(one.size * np.corrcoef(one, two)[0, 1] ** 2)


# Fairness


@pytest.mark.parametrize("share", [0.001, 0.1, 0.3, 0.5, 0.9])
def test_a_share_of_the_tuples_passes(share: float) -> None:
    for fallen in flip(ROWS, share, share)[1:]:
        assert abs(fallen.sum() - N * share) < 4.5 * np.sqrt(N * share * (1 - share))


def test_coins_are_uniform_and_larger_shares_keep_what_smaller_ones_keep() -> None:
    passed = [flip(ROWS, share / 16).probes for share in range(17)]
    assert not passed[0].any() and passed[16].all()
    between = [np.count_nonzero(more & ~less) for less, more in pairwise(passed)]
    assert all((less <= more).all() for less, more in pairwise(passed))
    assert sum((n - N / 16) ** 2 / (N / 16) for n in between) < 50  # 15 degrees of freedom


def test_coins_for_different_purposes_sides_and_seeds_are_independent() -> None:
    coins = [
        fallen
        for seed in (0, 1, -1, 2**40)
        for side in Side
        for fallen in flip(ROWS, 0.3, 0.4, side=side, seed=seed)[1:]
    ]
    worst = max(deviation(one, two) for i, one in enumerate(coins) for two in coins[:i])
    assert worst < UNLIKELY


def test_coins_of_neighbours_are_independent() -> None:
    coins = flip(ROWS, 0.3).probes
    assert max(deviation(coins[step:], coins[:-step]) for step in (1, 2, 50, 100)) < UNLIKELY


def test_equal_rows_have_coins_of_their_own() -> None:
    rows = pa.table({"k": np.zeros(N, np.int64), "ts": np.ones(N, np.int64)})
    coins = flip(rows, 0.3, 0.4)
    assert np.unique(coins.ids).size == N
    assert abs(coins.probes.sum() - 0.3 * N) < 4.5 * np.sqrt(N * 0.21)
    assert deviation(coins.probes, coins.stores) < UNLIKELY


# Determinism


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", None])), max_size=12), st.randoms())
def test_the_order_of_rows_is_nothing(rows: list[tuple[int, str | None]], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    assert decided(rows) == decided(shuffled)


def decided(rows: list[tuple[int, str | None]]) -> list[Any]:
    numbers, texts = [row[0] for row in rows], [row[1] for row in rows]
    table = pa.table({"n": pa.array(numbers, pa.int64()), "s": pa.array(texts, pa.string())})
    coins = flip(table, 0.5, 0.5)
    found = zip(rows, *(column.tolist() for column in coins), strict=True)
    return sorted(found, key=repr)


def test_chunks_and_other_rows_are_nothing() -> None:
    whole = row_ids(ROWS, LEFT)
    cut = pa.concat_tables([ROWS.slice(0, 7), ROWS.slice(7, 100), ROWS.slice(107)])
    assert (row_ids(cut, LEFT) == whole).all()
    assert (row_ids(ROWS.slice(500, 300), LEFT) == whole[500:800]).all()


def test_these_are_the_coins() -> None:
    """A running query must not shed other tuples after an update: a change here asks for a new HASH_VERSION."""
    rows = pa.table({"k": [1, 2, 3, 1], "s": ["a", None, "c", "a"]})
    assert row_ids(rows, RIGHT).tolist() == [
        8098898290801033413,
        17188186923900740713,
        47282131036587554,
        10404054745393589996,
    ]


def test_nothing_is_computed_where_nothing_is_shed() -> None:
    coins = flip_coins(ROWS, LEFT, 0, Shares(probe=(1.0, 0.5)))
    assert coins.probes.all() and coins.stores.all() and not coins.ids.any()


COLUMNS = [
    pa.array([1, 2, None]),
    pa.array([1, 2, None], pa.uint64()),
    pa.array([0.5, float("nan"), None]),
    pa.array([True, False, None]),
    pa.array(["", "b", None]),
    pa.array(["", "b", None], pa.large_string()),
    pa.array(["", "b", None], pa.string_view()),
    pa.array([b"", b"b", None]),
    pa.array([b"", b"b", None], pa.large_binary()),
    pa.array([b"xy", b"yx", None], pa.binary(2)),
    pa.array([Decimal("1.5"), Decimal("2.5"), None]),
    pa.array([date(2020, 1, 1), date(2020, 1, 2), None]),
    pa.array([1, 2, None], pa.timestamp("ns", "UTC")),
    pa.array([1, 2, None], pa.duration("s")),
    pa.array(["a", "b", None]).dictionary_encode(),
    pa.array([1, 1, None, 2]).filter(pa.array([True, False, True, True])),
    pa.array([[1], [], None]),
    pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
    pa.array([{"x": 1, "y": "a"}, {"x": None, "y": "a"}, {"x": 1, "y": None}, {"x": None, "y": None}, None]),
    pa.array([{"x": {"z": [1]}}, {"x": {"z": None}}, {"x": None}, None]),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_different_rows_of_any_type_have_different_ids(column: pa.Array) -> None:
    rows = pa.table({"k": pa.array([7] * len(column)), "x": column})
    assert np.unique(row_ids(rows, LEFT)).size == len(rows)
    backwards = pa.concat_tables([rows.slice(place, 1) for place in reversed(range(len(rows)))])
    assert (row_ids(backwards, LEFT)[::-1] == row_ids(rows, LEFT)).all()
    assert (row_ids(rows, LEFT) != row_ids(rows, RIGHT)).all()


def test_no_rows_have_no_coins() -> None:
    assert flip(ROWS.slice(0, 0), 0.5).probes.size == 0


# Shares


def test_shares_are_what_is_granted_of_what_there_is() -> None:
    shares = Shares.of(rates=(800, 200), windows=(0, 50), granted_rates=(100, 200), granted_windows=(0, 40))
    assert shares == Shares(probe=(0.125, 1.0), store=(1.0, 0.8))
    assert Shares.from_text(shares.to_text()) == shares
    uneven = Shares((1 / 3, 0.1), (2 / 7, 1.0))
    assert Shares.from_text(uneven.to_text()) == uneven


def test_what_has_no_chance_cannot_be_estimated() -> None:
    Shares((0.1, 1.0), (0.2, 0.3)).check_chances(("A", "B"))
    with pytest.raises(ShedError, match=r"no tuple of 'B' probes.*floor"):
        Shares(probe=(1.0, 0.0)).check_chances(("A", "B"))
    with pytest.raises(ShedError, match=r"no tuple of 'A' is stored.*floor"):
        Shares(store=(0.0, 1.0)).check_chances(("A", "B"))


# Who probed


@given(st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(0, 9), max_size=8), st.integers(0, 3))
def test_the_tuple_that_is_processed_later_has_probed(left: list[int], right: list[int], base: int) -> None:
    times = [np.array(sorted(ts), np.int64) for ts in (left, right)]
    punctuations = np.array([4], np.int64), np.array([0], np.int64), np.array([0], np.uint8)
    none = np.empty(0, np.int64)
    objects = [
        Objects(ts, np.zeros(ts.size, np.int64), np.zeros(ts.size, np.uint8), none, *punctuations, none, none, none)
        for ts in times
    ]
    when = (turns(order := merge_two(*objects), LEFT, len(left)), turns(order, RIGHT, len(right)))
    rows = [(i, j) for i in range(base + len(left)) for j in range(base + len(right)) if max(i, j) >= base]
    pairs = np.array(rows, np.int32).reshape(-1, 2).T
    expected = [
        j >= base and (i < base or times[RIGHT][j - base] >= times[LEFT][i - base])  # left first at equal times
        for i, j in rows
    ]
    assert right_probes(pairs, (base, base), when).tolist() == expected


# pt.shed


def test_limits_are_kept_as_given() -> None:
    assert shed(rate=5, tuples=1e6, strategy="equal", floor=1, seed=-3) == Shed(
        rate=5, tuples=1e6, strategy="equal", floor=1, seed=-3
    )
    assert shed(tuples=np.int64(5), seed=np.int64(7)).seed == 7  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "rate=.*tuples="),
        ({"rate": 0}, "rate=0: .*more than 0"),
        ({"rate": -1.5}, "rate=-1.5"),
        ({"rate": "fast"}, "rate='fast'"),
        ({"rate": True}, "rate=True"),
        ({"rate": float("nan")}, "rate=nan"),
        ({"rate": float("inf")}, "rate=inf"),
        ({"tuples": 0}, "tuples=0: .*more than 0"),
        ({"rate": 1, "tuples": "many"}, "tuples='many'"),
        ({"rate": 1, "floor": -1}, "floor=-1: .*0 or more"),
        ({"rate": 1, "floor": None}, "floor=None"),
        ({"rate": 1, "strategy": 3}, "strategy=3"),
        ({"rate": 1, "seed": 0.5}, "seed=0.5: give an integer"),
        ({"rate": 1, "seed": None}, "seed=None"),
    ],
)
def test_limits_that_make_no_sense(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ShedError, match=message):
        shed(**given)
