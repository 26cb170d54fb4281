"""The experiments of Kang, Naughton and Viglas run small; what does not depend on a clock holds there, too."""

from pathlib import Path
from typing import Any

import pytest

import punctuated as pt
from papers.experiments import EXPERIMENTS
from papers.kang import measured_cost
from papers.kang.bucket_sizes import SIZES
from papers.kang.pair_cost import Measured, WindowJoin, measure_pairs
from papers.kang.shedding import Contest, SheddingJoin, is_order
from papers.lab.experiment import Run
from punctuated.plan import cost


@pytest.fixture(autouse=True)
def reference_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def failing(claims: list[dict[str, Any]]) -> list[str]:
    return [claim["claim"] for claim in claims if not claim["holds"]]


@pytest.mark.parametrize("name", ["kn_fig02", "kn_table3", "kn_fig05", "kn_fig06", "kn_fig07"])
def test_claims_that_need_no_clock_hold(name: str) -> None:
    assert failing(EXPERIMENTS[name].run(scale=0.5)["claims"]) == []


@pytest.mark.parametrize("name", ["kn_fig02", "kn_table3", "kn_fig05", "kn_fig06", "kn_fig07"])
def test_the_same_scale_gives_the_same_result(name: str) -> None:
    assert EXPERIMENTS[name].run(scale=0.05) == EXPERIMENTS[name].run(scale=0.05)


def test_bucket_sizes_save_memory() -> None:
    result = EXPERIMENTS["kn_bucket_sizes"].run(scale=0.01)
    assert [each["size"] for each in result["points"]] == list(SIZES)
    assert failing(result["claims"][:2]) == failing(result["claims"][3:]) == []
    assert result["winners_of_two"] == ["HN", "HH", "NH"]


def test_figure_4_measures_all_pairs_in_all_workloads() -> None:
    result = EXPERIMENTS["kn_fig04"].run(scale=0.005)
    assert [each["windows"] for each in result["workloads"].values()] == [[9500, 500], [7000, 3000], [4000, 6000]]
    for each in result["workloads"].values():
        assert set(each["measured"]) == set(each["estimated"]) == set(each["paper"]) == set(cost.SHOWN_PAIRS)
        assert all(costs > 0 for costs in each["measured"].values())
        assert all(len(sums) == measured_cost.MINUTES + 1 for sums in each["sums"].values())


def test_figure_3_measures_all_pairs_at_all_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_cost, "SHARES", (0.01, 0.5, 0.99))
    result = EXPERIMENTS["kn_fig03"].run(scale=0.005)
    assert [each["share"] for each in result["points"]] == [0.01, 0.5, 0.99]
    assert all(set(each["measured"]) == set(cost.SHOWN_PAIRS) for each in result["points"])
    assert len(result["claims"]) == 4


# Claims that a clock decides, on costs that are made up


def along(*costs: tuple[float, float]) -> list[dict[str, Any]]:
    shares = (0.1, 0.5, 0.9)
    return [
        {"share": share, "measured": {"HN": here, "HH": 10.0, "NH": there}}
        for share, (here, there) in zip(shares, costs, strict=True)
    ]


def test_crossovers_lie_where_measured_costs_meet() -> None:
    found = measured_cost.measured_crossovers(along((5, 40), (20, 20), (40, 5)))
    assert [(each["before"], each["after"]) for each in found] == [("HN", "HH"), ("HH", "NH")]
    # On a logarithmic scale HN is ahead by as much at the first split as it is behind at the second.
    assert found[0]["share"] == pytest.approx(0.25)
    assert found[1]["share"] == pytest.approx(0.75)


def test_figure_4_names_pairs_in_the_wrong_order() -> None:
    costs = {"HN": 1.0, "HH": 1.1, "TT": 2.0}
    workload = {"measured": costs, "estimated": {"HN": 1.1, "HH": 1.0, "TT": 2.0}}
    assert measured_cost.swapped(workload) == []  # too close to each other to have an order
    workload["estimated"]["TT"] = 0.5
    assert measured_cost.swapped(workload) == [("HN", "TT"), ("HH", "TT")]


# The ground they stand on


def test_pairs_are_given_full_windows_and_exact_batches() -> None:
    join = WindowJoin((300, 200), (30.0, 70.0), values=50)
    tables = join.tables(seconds=2, n_batches=3)
    assert [(len(left), len(right)) for left, right in tables] == [(300, 200), (60, 140), (60, 140), (60, 140)]
    assert join.matches == (6, 4) and join.where is None and join.predicate == "="


@pytest.mark.parametrize("reach", [None, 2])
def test_all_pairs_find_the_same_and_as_many_as_expected(reach: int | None) -> None:
    join = WindowJoin((300, 200), (500.0, 500.0), values=50, reach=reach)
    pairs = ("NN", "HN", "BT") if reach is None else ("NN", "TN", "BT")
    filled = measure_pairs(join, pairs, seconds=1, n_batches=1)
    measured = measure_pairs(join, pairs, seconds=1, n_batches=5)
    expected = 4 * 500 * sum(join.matches)
    assert measured.results - filled.results == pytest.approx(expected, rel=0.1)
    assert {len(costs) for costs in measured.costs.values()} == {5}
    assert set(join.estimates(cost.KANG_WEIGHTS)) > set(pairs)


def test_costs_add_up() -> None:
    measured = Measured({"HH": [1.0, 2.0, 4.0]}, results=0)
    assert measured.cheapest() == {"HH": 1.0} and measured.sums() == {"HH": [0, 1, 3, 7]}


@pytest.fixture
def shedding() -> SheddingJoin:
    return SheddingJoin((100.0, 50.0), (200, 100), (20, 20), seconds=30.0)


def test_nothing_is_shed_if_all_is_granted(shedding: SheddingJoin) -> None:
    series = shedding.run()
    whole = cost.output_rate(rates=shedding.rates, windows=shedding.windows, selectivity=shedding.selectivity)
    assert series["results"][-1] / series["seconds"][-1] == pytest.approx(whole, rel=0.1)
    assert series["seconds"][0] == series["results"][0] == 0
    assert shedding.run(pt.shed(rate=1000, tuples=1000)) == series


def test_nothing_comes_of_nothing(shedding: SheddingJoin) -> None:
    one_sided = pt.shed(rate=20, tuples=100, strategy="left-window/left-rate")
    assert shedding.run(one_sided)["results"][-1] == 0


def test_a_contest_measures_what_its_formula_predicts(shedding: SheddingJoin) -> None:
    contest = Contest(
        shedding,
        {"MaxA": "max-left", "equal": "equal"},
        expected=(250.0, 375.0),
        claim="MaxA gives less",
        holds=lambda found: is_order(found, ["equal", "MaxA"]),
        title="",
        rate=50.0,
    )
    result = contest.measure(Run())
    assert [round(each["predicted"]) for each in result["runs"].values()] == [250, 375]
    assert is_order(result["runs"], ["equal", "MaxA"]) and not is_order(result["runs"], ["MaxA", "equal"])
    for each in result["runs"].values():
        assert each["measured"] == pytest.approx(each["predicted"], rel=0.1)
