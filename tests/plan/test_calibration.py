"""Calibration: what is measured has the right shape, what is computed from it is right. No test looks at the times."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

import punctuated.cli_calibrate as command
from punctuated.cli import app
from punctuated.errors import CostError
from punctuated.experiments.timed_join import TimedJoin
from punctuated.model.side import RIGHT
from punctuated.plan import cost
from punctuated.plan.cost import calibration as calibrating
from punctuated.plan.cost.calibration import (
    IDLE,
    N_RATES,
    REFERENCE_WEIGHTS,
    SEARCH,
    UPDATE,
    WINDOWS,
    Calibration,
    Line,
    Setting,
    calibrate,
    machine_weights,
)


@pytest.fixture(autouse=True)
def settings_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


@pytest.fixture(scope="module")
def heard() -> list[float]:
    return []


@pytest.fixture(scope="module")
def calibration(heard: list[float]) -> Calibration:
    return calibrate(heard.append, effort=0.01)


# A whole calibration, in a hurry


def test_every_structure_is_measured_at_all_windows_and_rates(calibration: Calibration) -> None:
    for predicate, structures in (("=", "NHBT"), ("band", "NBT")):
        for structure in structures:
            for work in (SEARCH, UPDATE):
                lines = [
                    line
                    for line in calibration.lines
                    if line.setting == Setting(structure, work, predicate, line.setting.window)
                ]
                assert {line.setting.window for line in lines} >= set(WINDOWS)
    assert [line.setting.work for line in calibration.lines].count(IDLE) == 1
    for line in calibration.lines:
        assert len(line.rates) == len(line.seconds) == N_RATES
        assert all(one < two for one, two in pairwise(line.rates))
        assert all(seconds > 0 for seconds in line.seconds)
        assert line.slope > 0 and math.isfinite(line.saturation_rate)


def test_weights_are_positive_and_for_both_kinds_of_predicates(calibration: Calibration) -> None:
    weights = calibration.weights
    assert weights.loop >= 0 and not weights.ceilings
    assert weights.by_range is not None and weights.by_range.loop == weights.loop
    for each in (weights, weights.by_range):
        for structure in cost.STRUCTURES:
            weight = each.of(structure)
            assert weight.P > 0 and weight.I > 0 and weight.match is not None
    assert calibration.plain.ceilings and calibration.plain.loop == 0


def test_progress_ends_at_one(calibration: Calibration, heard: list[float]) -> None:
    assert calibration.lines and heard[-1] == 1
    assert all(one <= two for one, two in pairwise(heard))


def test_weights_come_back_from_disk(calibration: Calibration) -> None:
    assert cost.load_weights(cost.save_weights(calibration.weights)) == calibration.weights


# From points to weights


def test_slope_and_saturation_of_a_line() -> None:
    rates = tuple(float(rate) for rate in range(1, N_RATES + 1))
    line = Line(Setting("N", SEARCH), rates, tuple(0.002 + 0.0005 * rate for rate in rates))
    assert line.slope == pytest.approx(0.0005)
    assert line.saturation_rate == pytest.approx((60 - 0.002) / 0.0005)


def test_a_clock_that_stands_still_gives_no_negative_slope() -> None:
    assert Line(Setting("N", SEARCH), (1.0, 2.0), (0.002, 0.001)).slope == pytest.approx(0.001)


@pytest.mark.parametrize(
    ("setting", "rounded", "smooth"),
    [
        (Setting("N", SEARCH), 5000, 5000),
        (Setting("N", UPDATE), 2, 2),
        (Setting("H", SEARCH, bucket_size=40), 40, 40),
        (Setting("B", SEARCH), 14, math.log2(5000)),
        (Setting("B", SEARCH, window=20_000), 21, math.log2(20_000) + 2),
        (Setting("T", UPDATE), 29, 2 * (1.5 * (math.log2(50) - 1) + math.log2(100))),
    ],
)
def test_touched_tuples_are_those_of_the_model(setting: Setting, rounded: float, smooth: float) -> None:
    assert setting.touched(ceilings=True) == pytest.approx(rounded)
    assert setting.touched(ceilings=False) == pytest.approx(smooth)


SEARCHES = [Setting("N", SEARCH, window=window) for window in WINDOWS]


def test_a_fit_finds_the_cost_of_a_tuple_and_the_fixed_one() -> None:
    costs = {each: 3e-6 + 2e-9 * each.window for each in SEARCHES}
    assert calibrating._fit(costs) == pytest.approx([2e-9, 3e-6])


def test_a_fit_finds_what_a_doubling_of_the_window_adds() -> None:
    settings = [Setting("H", SEARCH, window=window) for window in WINDOWS]
    settings += [Setting("H", SEARCH, bucket_size=size) for size in (2, 40)]
    costs = {each: 1e-6 + 3e-8 * each.bucket_size + 2e-7 * math.log2(each.window) for each in settings}
    assert calibrating._fit(costs, of_window=True) == pytest.approx([3e-8, 1e-6, 2e-7])


@pytest.mark.parametrize("cost_of", [lambda window: max(1, window - 100), lambda window: 1 / window])
def test_costs_are_never_negative(cost_of: Callable[[int], float]) -> None:
    per_tuple, fixed = calibrating._fit({each: cost_of(each.window) for each in SEARCHES})
    assert fixed == 0 and per_tuple > 0


def test_where_all_touch_the_same_there_is_no_fixed_cost() -> None:
    costs = {Setting("H", UPDATE, window=window): 4e-7 for window in WINDOWS}
    assert calibrating._fit(costs) == pytest.approx([2e-7, 0])


def test_a_match_costs_the_difference_between_many_and_few() -> None:
    costs = {Setting("T", SEARCH, matches=matches): 1e-6 + 1e-8 * matches for matches in (0.1, 8.0)}
    assert calibrating._match_cost(costs) == pytest.approx(1e-8)


def test_costs_are_those_beside_the_loop() -> None:
    slopes = {calibrating._IDLE: 2e-6, Setting("T", SEARCH): 5e-6, Setting("N", UPDATE): 1e-6}
    lines = [Line(setting, (1.0, 2.0), (slope, 2 * slope)) for setting, slope in slopes.items()]
    found = calibrating._costs(lines)
    assert found.keys() == slopes.keys() - {calibrating._IDLE}
    assert found[Setting("T", SEARCH)] == pytest.approx(3e-6)
    assert found[Setting("N", UPDATE)] > 0  # noise must not make it negative


# The model with what the paper does not have

PLAIN = cost.Weight(P=1e-6, I=2e-6)
FULL = replace(PLAIN, search=1e-5, update=1e-4, match=1e-3, doubling=1e-2)


def weights_of(weight: cost.Weight, **more: float) -> cost.Weights:
    return cost.Weights(weight, weight, weight, weight, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("structure", "NHBT")
def test_fixed_costs_come_on_top(structure: str) -> None:
    plain, full = weights_of(PLAIN), weights_of(FULL)
    without, beyond, with_matches = (
        cost.one_way_cost(structure, probe_rate=3, update_rate=5, window=1000, weights=each, matches=matches)
        for each, matches in ((plain, 0), (full, 0), (full, 7))
    )
    assert beyond - without == pytest.approx(3 * (1e-5 + 1e-2 * math.log2(1000)) + 5 * 2 * 1e-4)
    assert with_matches - beyond == pytest.approx(3 * 7 * 1e-3)


def test_a_match_without_a_cost_of_its_own_is_a_tuple_touched_in_a_tree() -> None:
    plain = weights_of(PLAIN)
    added = {each: cost.probe_cost(each, 1000, weights=plain, matches=7) for each in "NHBT"}
    added = {each: found - cost.probe_cost(each, 1000, weights=plain) for each, found in added.items()}
    assert added == pytest.approx({"N": 0, "H": 0, "B": 7e-6, "T": 7e-6})


def test_the_loop_costs_each_tuple_once() -> None:
    with_loop = weights_of(PLAIN, loop=1e-3)
    costs = [
        cost.unit_time_cost("TN", windows=(10, 20), rates=(3, 5), weights=each)
        for each in (weights_of(PLAIN), with_loop)
    ]
    assert costs[1] - costs[0] == pytest.approx(8e-3)


def test_ranges_have_weights_of_their_own() -> None:
    dear = weights_of(replace(PLAIN, P=1.0))
    weights = replace(weights_of(PLAIN), by_range=dear)
    assert weights.serving("=") is weights and weights.serving("band") is weights.serving("<") is dear
    assert cost.KANG_WEIGHTS.serving("band") is cost.KANG_WEIGHTS
    cheapest = [
        cost.candidates(windows=(10, 10), rates=(1, 1), predicate=each, weights=weights)[0].cost
        for each in ("=", "band")
    ]
    assert cheapest[1] > 1 > cheapest[0]


def test_everything_is_saved() -> None:
    weights = replace(weights_of(FULL, loop=1e-3), ceilings=False, by_range=weights_of(PLAIN))
    assert cost.load_weights(cost.save_weights(weights)) == weights
    content = cost.weights_content(cost.KANG_WEIGHTS)
    assert content.keys() == set("NHBT") and content["B"] == {"P": 2.6e-4, "I": 2.6e-4}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"loop": -1}, "loop=-1"),
        ({"ceilings": 3}, "ceilings=3"),
        ({"by_range": {}}, "by_range needs the keys N, H, B, T"),
        ({"H": {"P": 1, "I": 1, "search": "dear"}}, "search='dear'"),
        ({"H": {"P": 1, "I": 1, "match": -2}}, "match=-2"),
    ],
)
def test_a_malformed_file_is_named(more: dict[str, object], words: str) -> None:
    path = cost.save_weights(cost.KANG_WEIGHTS)
    path.write_text(json.dumps(cost.weights_content(cost.KANG_WEIGHTS) | more))
    with pytest.raises(CostError, match="does not hold weights") as refusal:
        cost.load_weights()
    assert words in str(refusal.value)


# Where weights come from


def test_machine_weights_are_the_saved_ones_or_else_the_reference() -> None:
    assert machine_weights() == REFERENCE_WEIGHTS
    cost.save_weights(cost.KANG_WEIGHTS)
    assert machine_weights() == cost.KANG_WEIGHTS


def test_the_reference_prefers_what_was_measured_to_be_best() -> None:
    assert cost.best(windows=(5000, 5000), rates=(500, 500), weights=REFERENCE_WEIGHTS) == "HH"
    assert cost.best(windows=(5000, 5000), rates=(1, 999), weights=REFERENCE_WEIGHTS) == "HN"
    assert set(cost.best(windows=(5000, 5000), rates=(500, 500), predicate="band", weights=REFERENCE_WEIGHTS)) <= set(
        "BT"
    )
    assert cost.best(windows=(5000, 5000), rates=(1, 999), predicate="band", weights=REFERENCE_WEIGHTS)[1] == "N"


# What is measured does what it is said to do


@pytest.mark.parametrize("predicate", ["=", "band"])
@pytest.mark.parametrize("structure", "NHBT")
def test_a_join_is_measured_in_one_direction(structure: str, predicate: str) -> None:
    if structure == "H" and predicate == "band":
        return
    join = TimedJoin(f"N{structure}", 300, predicate=predicate, matches=5, bucket_size=4)
    assert join.stored == (300, 300) and join.results == 0
    assert join.idle(50) > 0 and join.results == 0
    assert join.update(700) > 0 and join.results == 0
    assert join.search(2000) > 0
    assert join.results / 2000 == pytest.approx(5, rel=0.15)
    assert join.stored[RIGHT] == 300 and join.bytes_per_tuple >= 32
    if structure == "H":
        assert 1 < join.tuples_per_bucket <= 4


def test_a_join_is_measured_as_a_whole() -> None:
    join = TimedJoin("HH", 300, matches=2)
    assert join.both(1000) > 0
    assert join.stored == (300, 300) and join.results / 2000 == pytest.approx(2, rel=0.15)


# At the command line


def test_the_command_saves_and_shows(
    calibration: Calibration, settings_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrating, "calibrate", lambda progress=None: calibration)
    outcome = CliRunner().invoke(app, ["cost", "calibrate"])
    assert outcome.exit_code == 0, outcome.output
    assert cost.load_weights() == calibration.weights
    for words in ("paper", "5.5e-04", "nested loops", str(settings_folder)):
        assert words in outcome.stdout
    assert command.calibrate_machine.__doc__ is not None


def test_the_command_as_json(calibration: Calibration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "calibrate", lambda progress=None: calibration)
    path = tmp_path / "mine.json"
    outcome = CliRunner().invoke(app, ["cost", "calibrate", "--json", "--out", str(path)])
    content = json.loads(outcome.stdout)
    assert content["path"] == str(path) and cost.load_weights(path) == calibration.weights
    assert cost.calibrated_weights() is None
    assert content["weights"] == json.loads(path.read_text())
    assert len(content["lines"]) == len(calibration.lines)
    assert content["lines"][0].keys() == {"setting", "rates", "seconds", "slope", "saturation_rate"}
