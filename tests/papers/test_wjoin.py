"""The experiments of the W-join report run small; what does not depend on a clock holds there, too."""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from papers.experiments import EXPERIMENTS
from papers.lab.trial import times_us
from papers.wjoin.claims import growth, service, settled, times_as_long
from papers.wjoin.rates import FAST, SLOW, SPELL, changing
from papers.wjoin.service_time import SLICE, ManyJoin, measure_services, slices, uniform_streams
from papers.wjoin.windows import as_written, pair_windows
from punctuated.model.reach import reach_within
from punctuated.streams import stores

ALGORITHMS = ("nlw", "mw", "hw", "gca", "lca", "ripple", "xjoin")
NAMES = [name for name in EXPERIMENTS if name.startswith("wj_")]


@pytest.mark.parametrize("name", NAMES)
def test_all_algorithms_of_a_figure_find_the_same(name: str) -> None:
    result = EXPERIMENTS[name].run(scale=0.1)
    first = result["claims"][0]
    assert first["claim"] == "All algorithms give the same number of results"
    assert first["holds"], first["found"]


def test_every_figure_has_its_algorithms_and_cases() -> None:
    results = {name: EXPERIMENTS[name].run(scale=0.02)["cases"] for name in NAMES}
    assert {name: tuple(cases) for name, cases in results.items()} == {
        "wj_fig07": ("2", "3", "4"),
        "wj_fig08": ("2", "3", "4"),
        "wj_fig09a": ("2", "3", "4", "5", "6"),
        "wj_fig09b": ("2", "3", "4", "5", "6"),
        "wj_fig09c": ("D steady", "D changing"),
        "wj_fig13": ("0.8 s", "0.1 s, not tightened", "0.1 s"),
        "wj_fig14": ("little", "much"),
    }
    assert {name: set(next(iter(cases.values()))["runs"]) for name, cases in results.items()} == {
        "wj_fig07": {"ripple", "nlw", "mw"},
        "wj_fig08": {"xjoin", "hw"},
        "wj_fig09a": {"nlw", "mw", "hw"},
        "wj_fig09b": {"nlw", "mw", "hw"},
        "wj_fig09c": {"nlw", "mw", "hw"},
        "wj_fig13": {"gca", "lca"},
        "wj_fig14": {"nlw", "lca", "mw"},
    }


# The ground they stand on


def test_slices_have_all_tuples_once_in_the_order_of_time() -> None:
    tables = stores(5_500, 3, seed=2)
    parts = slices(tables, "sold_at")
    for table, each in zip(tables, parts, strict=True):
        assert pa.concat_tables(each).equals(table.slice(0, sum(map(len, each))))
    sizes = [sum(len(part) for part in each) for each in zip(*parts, strict=True)]
    assert sizes == [SLICE] * 5
    times = [
        np.concatenate([part["sold_at"].cast(pa.int64()).to_numpy() for part in each])
        for each in zip(*parts, strict=True)
    ]
    assert all(one.max() <= other.min() for one, other in pairwise(times))


def test_few_tuples_are_one_slice() -> None:
    assert [[len(part) for part in each] for each in slices(uniform_streams([500, 700], 1, 5), size=5000)] == [
        [500],
        [700],
    ]


def by_hand(tables: list[pa.Table], window_us: int) -> int:
    """Results of three streams, counted the slow way."""
    a, b, c = (list(zip(table["key"].to_pylist(), times_us(table).tolist(), strict=True)) for table in tables)
    return sum(
        key == other == third and max(ts, at, then) - min(ts, at, then) <= window_us
        for key, ts in a
        for other, at in b
        if other == key and abs(at - ts) <= window_us
        for third, then in c
    )


def test_services_are_measured_slice_by_slice_and_results_are_all_of_them() -> None:
    tables = uniform_streams([1000, 500, 500], 1, 20)
    reported: list[float] = []
    case = measure_services(ManyJoin(tables, partial(pt.join, within="50 ms")), ALGORITHMS, 2, reported.append)
    assert reported == [0.5, 1.0]
    assert case["tuples"] == [1000, 2000]
    assert set(case["runs"]) == set(ALGORITHMS)
    for run in case["runs"].values():
        assert len(run["service_us"]) == 2 and min(run["service_us"]) > 0
        assert run["results"] == by_hand(tables, 50_000)


def test_what_is_kept_and_what_is_in_reach() -> None:
    tables = uniform_streams([1000, 1000], 3, 20)
    case = measure_services(ManyJoin(tables, partial(pt.join, within="200 ms")), ("nlw", "ripple"))
    assert case["in_reach"] == pytest.approx(400, rel=0.1)
    assert case["runs"]["nlw"]["stored"] == pytest.approx(case["in_reach"], rel=0.05)
    assert case["runs"]["ripple"]["stored"] == 3500, "cleaned up after 10,000 tuples only"


def test_a_path_is_gone_in_both_directions() -> None:
    tables = uniform_streams([500, 500, 500], 1, 20)
    forth, back_and_forth = (
        measure_services(ManyJoin(tables, partial(pt.path, within="50 ms", both_directions=both)), ("nlw", "lca"))
        for both in (False, True)
    )
    assert 0 < forth["runs"]["nlw"]["results"] < back_and_forth["runs"]["nlw"]["results"]
    assert back_and_forth["runs"]["nlw"]["results"] == back_and_forth["runs"]["lca"]["results"]


def test_windows_as_written_are_wider_than_tightened_ones() -> None:
    windows = pair_windows(100_000)
    assert len(windows) == 6 and windows["A", "B"] == 1_000_000
    tightened, written = reach_within("ABCD", windows), as_written(100_000)
    assert tightened[0][1] == 200_000 and written[0][1] == written[1][0] == 1_000_000
    assert {written[i][j] for i in range(4) for j in range(4) if {i, j} != {0, 1}} == {0, 100_000}


def test_a_changing_stream_is_fast_and_slow_by_turns() -> None:
    (steady,) = uniform_streams([FAST], 25, 5)
    table = changing(steady)
    gaps = np.diff(times_us(table))
    assert times_us(table)[-1] <= times_us(steady)[-1]
    assert len(table) > 3 * SPELL
    assert gaps[: SPELL - 1].mean() == pytest.approx(1e6 / FAST, rel=0.5)
    assert gaps[SPELL : 2 * SPELL - 1].mean() == pytest.approx(1e6 / SLOW, rel=0.5)
    assert gaps[2 * SPELL : 3 * SPELL - 1].mean() == pytest.approx(1e6 / FAST, rel=0.5)
    assert table["key"].equals(steady["key"].slice(0, len(table)))


def test_times_are_compared_where_windows_are_full() -> None:
    case: Mapping[str, Any] = {
        "runs": {"nlw": {"service_us": [9.0, 9.0, 2.0, 6.0, 4.0]}, "mw": {"service_us": [9.0, 9.0, 1.0, 2.0, 4.0]}}
    }
    assert settled(case, "nlw") == [2.0, 6.0, 4.0]
    assert service(case, "nlw") == 4.0
    assert times_as_long(case, "nlw", "mw") == 2.0
    assert growth(case, "nlw") == pytest.approx(4 / 9)
