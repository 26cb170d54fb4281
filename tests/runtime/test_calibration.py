"""Calibration: what is measured has the right shape, what is computed from it is right. No test looks at the times."""

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

import punctuated.cli.calibrate as command
from punctuated.cli.main import app
from punctuated.errors import AlgorithmError
from punctuated.model.load import Observation
from punctuated.model.spec import RIGHT
from punctuated.plan import cost
from punctuated.plan.cost.weights import REFERENCE_WEIGHTS
from punctuated.runtime import calibration as calibrating
from punctuated.runtime.calibration import Calibration, calibrate, fit
from punctuated.runtime.calibration import lines as measuring
from punctuated.runtime.calibration.fit import fit_touched, line_costs, match_cost
from punctuated.runtime.calibration.lines import (
    IDLE,
    IDLE_SETTING,
    N_RATES,
    SEARCH,
    UPDATE,
    WINDOWS,
    MeasuredLine,
    Setting,
)
from punctuated.runtime.calibration.timed_join import TimedJoin
from punctuated.state.rows import ring_positions


@pytest.fixture(autouse=True)
def settings_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


@pytest.fixture(scope="module")
def reported() -> list[float]:
    return []


@pytest.fixture(scope="module")
def calibration(reported: list[float]) -> Calibration:
    return calibrate(reported.append, effort=0.01)


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


def test_weights_are_positive_and_for_both_kinds_of_predicates(calibration: Calibration) -> None:
    weights = calibration.weights
    assert weights.loop >= 0 and not weights.ceilings
    assert weights.by_range is not None and weights.by_range.loop == weights.loop
    for each in (weights, weights.by_range):
        for structure in cost.STRUCTURES:
            weight = each.of(structure)
            assert weight.P > 0 and weight.I > 0 and weight.match is not None
    assert weights.value_index is not None
    assert calibration.plain.ceilings and calibration.plain.loop == 0


def test_progress_ends_at_one(calibration: Calibration, reported: list[float]) -> None:
    assert calibration.lines and reported[-1] == 1
    assert all(one <= two for one, two in pairwise(reported))


def test_weights_come_back_from_disk(calibration: Calibration) -> None:
    assert cost.load_weights(cost.save_weights(calibration.weights)) == calibration.weights


# A machine whose weights are known

IDLE_S, RESULT = 0.9e-6, 3e-7


class KnownJoin:
    """Stands in for `TimedJoin`: its times are those of the model, with the reference machine's weights."""

    def __init__(
        self, structures: str | None, window: int, *, predicate: str = "=", matches: float = 0.1, bucket_size: int = 10
    ) -> None:
        self._model = cost.CostModel(REFERENCE_WEIGHTS.serving(predicate), bucket_size)
        self._structures, self._window, self._matches = structures, window, matches

    def idle(self, n: int) -> float:
        return n * IDLE_S / 60

    def search(self, n: int) -> float:
        assert self._structures is not None
        found = self._model.probe(self._structures[1], self._window, self._matches) - RESULT * self._matches
        return n * (IDLE_S + found) / 60

    def update(self, n: int) -> float:
        assert self._structures is not None
        return n * (IDLE_S + 2 * self._model.insert(self._structures[1], self._window)) / 60

    def both(self, n: int) -> float:
        windows, matches = (self._window, self._window), (self._matches, self._matches)
        seen = Observation.unshed((0.5, 0.5), windows, matches)
        if self._structures is None:
            return 2 * n * self._model.value_index(seen, self._window / self._matches) / 60
        return 2 * n * self._model.join(self._structures, seen) / 60


def test_weights_of_a_machine_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match in a structure and its result in the join are told apart, and saved as one cost."""
    monkeypatch.setattr(measuring, "TimedJoin", KnownJoin)
    monkeypatch.setattr(fit, "TimedJoin", KnownJoin)
    found = calibrate().weights
    assert found.by_range is not None and REFERENCE_WEIGHTS.by_range is not None
    for ours, expected in ((found, REFERENCE_WEIGHTS), (found.by_range, REFERENCE_WEIGHTS.by_range)):
        assert ours.loop == pytest.approx(expected.loop)
        for structure in cost.STRUCTURES:
            assert asdict(ours.of(structure)) == pytest.approx(asdict(expected.of(structure)), abs=1e-12), structure
    assert found.value_index is not None and REFERENCE_WEIGHTS.value_index is not None
    assert asdict(found.value_index) == pytest.approx(asdict(REFERENCE_WEIGHTS.value_index))


# From points to weights


def test_slope_and_saturation_of_a_line() -> None:
    rates = tuple(float(rate) for rate in range(1, N_RATES + 1))
    line = MeasuredLine(Setting("N", SEARCH), rates, tuple(0.002 + 0.0005 * rate for rate in rates))
    assert line.slope == pytest.approx(0.0005)
    assert line.saturation_rate == pytest.approx((60 - 0.002) / 0.0005)


def test_a_clock_that_stands_still_gives_no_negative_slope() -> None:
    assert MeasuredLine(Setting("N", SEARCH), (1.0, 2.0), (0.002, 0.001)).slope == pytest.approx(0.001)


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
    assert fit_touched(costs) == pytest.approx([2e-9, 3e-6])


def test_a_fit_finds_what_a_doubling_of_the_window_adds() -> None:
    settings = [Setting("H", SEARCH, window=window) for window in WINDOWS]
    settings += [Setting("H", SEARCH, bucket_size=size) for size in (2, 40)]
    costs = {each: 1e-6 + 3e-8 * each.bucket_size + 2e-7 * math.log2(each.window) for each in settings}
    assert fit_touched(costs, of_window=True) == pytest.approx([3e-8, 1e-6, 2e-7])


@pytest.mark.parametrize("cost_of", [lambda window: max(1, window - 100), lambda window: 1 / window])
def test_costs_are_never_negative(cost_of: Callable[[int], float]) -> None:
    per_tuple, fixed = fit_touched({each: cost_of(each.window) for each in SEARCHES})
    assert fixed == 0 and per_tuple > 0


def test_where_all_touch_the_same_there_is_no_fixed_cost() -> None:
    costs = {Setting("H", UPDATE, window=window): 4e-7 for window in WINDOWS}
    assert fit_touched(costs) == pytest.approx([2e-7, 0])


def test_a_match_costs_the_difference_between_many_and_few() -> None:
    costs = {Setting("T", SEARCH, matches=matches): 1e-6 + 1e-8 * matches for matches in (0.1, 8.0)}
    assert match_cost(costs) == pytest.approx(1e-8)


def test_costs_are_those_beside_the_loop() -> None:
    slopes = {IDLE_SETTING: 2e-6, Setting("T", SEARCH): 5e-6, Setting("N", UPDATE): 1e-6}
    lines = [MeasuredLine(setting, (1.0, 2.0), (slope, 2 * slope)) for setting, slope in slopes.items()]
    found = line_costs(lines)
    assert found.keys() == slopes.keys() - {IDLE_SETTING}
    assert found[Setting("T", SEARCH)] == pytest.approx(3e-6)
    assert found[Setting("N", UPDATE)] > 0  # noise must not make it negative


# What is measured does what it is said to do


def oldest(join: TimedJoin) -> int:
    """The time of the oldest tuple in the right window."""
    state = join._driver.state
    return int(state.arrays.nodes["ts"][ring_positions(state, RIGHT)].min())


@pytest.mark.parametrize(
    ("predicate", "structure"), [("=", each) for each in "NHBT"] + [("band", each) for each in "NBT"]
)
def test_a_join_is_measured_in_one_direction(structure: str, predicate: str) -> None:
    join = TimedJoin(f"N{structure}", 300, predicate=predicate, matches=5, bucket_size=4)
    assert join.stored == (300, 300) and join.results == 0
    before = oldest(join)
    join.idle(50)
    assert join.results == 0 and join.stored[RIGHT] == 300 and oldest(join) == before
    join.update(700)
    assert join.results == 0 and oldest(join) > before
    before = oldest(join)
    join.search(2000)
    assert join.results / 2000 == pytest.approx(5, rel=0.15)
    assert oldest(join) == before
    assert join.stored[RIGHT] == 300 and join.bytes_per_tuple >= 32
    if structure == "H":
        assert 1 < join.tuples_per_bucket <= 4


def test_hash_buckets_cannot_be_measured_by_ranges() -> None:
    with pytest.raises(AlgorithmError, match="serves equal keys only"):
        TimedJoin("NH", 300, predicate="band")


@pytest.mark.parametrize("structures", ["HH", None])
def test_a_join_is_measured_as_a_whole(structures: str | None) -> None:
    join = TimedJoin(structures, 300, matches=2)
    join.both(1000)
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
