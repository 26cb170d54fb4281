"""Every experiment runs, survives JSON and can be drawn; those that measure no time keep the paper's claims."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.experiments import EXPERIMENTS, fig08_memory, fig11_punctuations, fig12_one_sided, planned_state
from punctuated.experiments.experiment import Experiment
from punctuated.experiments.fig07_best_case import synchronized
from punctuated.experiments.race import ratio
from punctuated.experiments.series import mean_after
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import alike, cut, times_us, with_and_without

DETERMINISTIC = (
    "fig07_best_case",
    "fig08_memory",
    "fig11_punctuations",
    "fig12_one_sided",
    "eq01_state",
    "planned_state",
)
PNG = b"\x89PNG\r\n"

each_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)


@each_experiment
def test_runs_at_a_small_scale_and_is_drawn_from_json_alone(experiment: Experiment, tmp_path: Path) -> None:
    heard: list[float] = []
    result = experiment.run(scale=0.05, progress=heard.append)
    assert heard[-1] == pytest.approx(1.0)
    assert all(earlier <= later for earlier, later in pairwise(heard))
    assert result["checks"]
    assert result["engine"] == "tables"
    for check in result["checks"]:
        assert check.keys() == {"claim", "holds", "detail"}
        assert isinstance(check["holds"], bool)
    picture = tmp_path / "picture.png"
    experiment.plot(json.loads(json.dumps(result)), picture)
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_claims_hold(name: str) -> None:
    result = EXPERIMENTS[name].run(scale=0.5)
    assert [check for check in result["checks"] if not check["holds"]] == []


def failing(checks: list[dict[str, Any]]) -> list[str]:
    return [check["claim"] for check in checks if not check["holds"]]


def test_a_join_that_saves_nothing_fails_the_claims_of_figure_8() -> None:
    result = EXPERIMENTS["fig08_memory"].run(scale=0.2)
    runs = {window: {"PWJoin": each["WJoin"], "WJoin": each["WJoin"]} for window, each in result["runs"].items()}
    summary = {window: each | {"saved": 0.0, "saved_share": 0.0} for window, each in result["summary"].items()}
    assert len(failing(fig08_memory._checks(runs, summary))) == 2


def test_swapping_the_joins_fails_the_claims_of_figures_11_and_12() -> None:
    for figure, name in ((fig11_punctuations, "fig11_punctuations"), (fig12_one_sided, "fig12_one_sided")):
        runs = EXPERIMENTS[name].run(scale=0.2)["runs"]
        assert failing(figure._checks(runs)) == []
        assert len(failing(figure._checks({"PWJoin": runs["PJoin"], "PJoin": runs["PWJoin"]}))) >= 2


def test_plans_by_equation_one_or_by_the_window_alone_fail_the_claims() -> None:
    points = EXPERIMENTS["planned_state"].run(scale=0.5)["points"]
    assert failing(planned_state._checks(points)) == []
    for other in ("eq1", "bound"):
        assert len(failing(planned_state._checks([point | {"waits": point[other]} for point in points]))) >= 1
    too_low = [point | {"counts": 0.5 * point["measured"], "eq1": point["measured"]} for point in points]
    assert len(failing(planned_state._checks(too_low))) == 2


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_a_run_that_is_too_short_for_its_claims_says_so(name: str) -> None:
    assert EXPERIMENTS[name].run(scale=1e-9)["checks"]


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_same_scale_gives_the_same_result(name: str) -> None:
    run = EXPERIMENTS[name].run
    assert run(scale=0.05) == run(scale=0.05)


@each_experiment
def test_names_are_those_of_the_files(experiment: Experiment) -> None:
    assert EXPERIMENTS[experiment.name] is experiment
    assert experiment.run.__module__ == f"punctuated.experiments.{experiment.name}"


# The ground they stand on


def test_clusters_of_b_follow_those_of_a() -> None:
    left, right = synchronized("cluster-asc-5", 100)
    order = sorted([*((ts, "A") for ts in times_us(left)), *((ts, "B") for ts in times_us(right))])
    keys = dict(zip(times_us(left), left["key"].to_pylist(), strict=True))
    keys |= dict(zip(times_us(right), right["key"].to_pylist(), strict=True))
    met = [(keys[ts], side) for ts, side in order]
    assert met == sorted(met)
    assert len(set(met)) == 2 * len(set(keys.values()))


def test_a_cut_keeps_every_row_and_every_time_in_its_batch() -> None:
    table = pt.streams.generate("punct-asc-30-40", 500, punctuations="rows")
    batches = cut(table, 1_000_000)
    assert pa.concat_tables(batches).equals(table)
    assert all(set(times_us(batch) // 1_000_000) <= {i} for i, batch in enumerate(batches))


def test_samples_stand_on_the_step_while_both_streams_go_on() -> None:
    tables = [pt.streams.generate("punct-asc-30-40", n, seed=n) for n in (300, 500)]
    series = TABLES.sample(alike("wjoin", tables, 1), 100_000)
    assert [round(at * 10) for at in series["seconds"]] == list(range(1, len(series["seconds"]) + 1))
    assert series["seconds"][-1] <= min(times_us(table)[-1] for table in tables) / 1e6
    assert mean_after(series, "state", 1) == pytest.approx(200, rel=0.3)
    assert mean_after(series, "state", 1e6) == 0


def test_a_race_gives_every_join_the_same_results() -> None:
    table = pt.streams.generate("cluster-asc-5", 300)
    outcome = TABLES.race(with_and_without((table, table), 1), 1_000_000, repeats=3)
    assert len(outcome["WJoin"]["repetitions_s"]) == 3
    assert outcome["WJoin"]["batches"] == len(cut(table, 1_000_000)) and outcome["WJoin"]["timed_share"] == 1
    assert outcome["PWJoin"]["results"] == outcome["WJoin"]["results"] > 300
    assert outcome["PWJoin"]["curve"]["results"][-1] == outcome["PWJoin"]["results"]
    assert ratio({"repetitions_s": [2, 9, 4]}, {"repetitions_s": [1, 3, 2]}) == 2
