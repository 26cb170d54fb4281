"""Every experiment runs, survives JSON and can be drawn; those that measure no time keep the paper's claims."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from papers.experiments import EXPERIMENTS
from papers.lab.experiment import ALL_ENGINES, Experiment
from papers.lab.race import ratio
from papers.lab.tables_engine import TABLES, TablesEngine
from papers.lab.trial import alike, cut, mean_after, times_us, with_and_without
from papers.pwjoin.best_case import synchronized
from punctuated.errors import PunctuatedError

NEED_A_LENGTH = ("fig08_memory", "fig11_punctuations", "fig12_one_sided", "eq01_state")
DETERMINISTIC = ("fig07_best_case", "planned_state", *NEED_A_LENGTH)
ON_TABLES_ONLY = {name for name in EXPERIMENTS if name.startswith(("kn_", "pj_", "wj_"))}
PNG = b"\x89PNG\r\n"

each_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)


@each_experiment
def test_runs_at_a_small_scale_and_is_drawn_from_json_alone(experiment: Experiment, tmp_path: Path) -> None:
    reported: list[float] = []
    result = experiment.run(scale=0.05, progress=reported.append)
    assert reported[-1] == pytest.approx(1.0)
    assert all(earlier <= later for earlier, later in pairwise(reported))
    assert result["claims"]
    assert result["engine"] == "tables"
    for claim in result["claims"]:
        assert claim.keys() == {"claim", "report", "found", "holds"}
        assert isinstance(claim["holds"], bool)
        assert all(isinstance(claim[name], str) and claim[name] for name in ("claim", "report", "found"))
    picture = tmp_path / "picture.png"
    experiment.plot(json.loads(json.dumps(result)), picture)
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_claims_hold(name: str) -> None:
    result = EXPERIMENTS[name].run(scale=0.5)
    assert [claim for claim in result["claims"] if not claim["holds"]] == []


def failing(claims: list[dict[str, Any]]) -> list[str]:
    return [claim["claim"] for claim in claims if not claim["holds"]]


@pytest.mark.parametrize("name", NEED_A_LENGTH)
def test_a_run_that_is_too_short_for_its_claims_says_so(name: str) -> None:
    assert len(failing(EXPERIMENTS[name].run(scale=1e-9)["claims"])) >= 2


@each_experiment
def test_joins_run_on_the_engine_asked_for_or_it_is_refused(experiment: Experiment) -> None:
    class Elsewhere(TablesEngine):
        name = "spark"

        def sample(self, *_: Any) -> Any:
            raise InterruptedError

        def race(self, *_: Any) -> Any:
            raise InterruptedError

    is_on_tables_only = experiment.name in ON_TABLES_ONLY
    assert experiment.engines == (("tables",) if is_on_tables_only else ALL_ENGINES)
    expected, message = (PunctuatedError, "its engines are tables") if is_on_tables_only else (InterruptedError, None)
    with pytest.raises(expected, match=message):
        experiment.run(scale=0.01, engine=Elsewhere())


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_same_scale_gives_the_same_result(name: str) -> None:
    run = EXPERIMENTS[name].run
    assert run(scale=0.05) == run(scale=0.05)


@each_experiment
def test_names_are_those_of_the_registry(experiment: Experiment) -> None:
    assert EXPERIMENTS[experiment.name] is experiment


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
