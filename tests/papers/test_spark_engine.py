"""Experiments on Spark: a micro-batch leaves what tables hold at that time; a race is timed without the first."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import punctuated as pt
from papers.command import app
from papers.experiments import EXPERIMENTS
from papers.lab.engine import open_engine
from papers.lab.race import compared
from papers.lab.tables_engine import TABLES, prepare
from papers.lab.trial import Input, Trial, alike, cut, times_us, with_and_without
from patience import LONGEST_S
from punctuated.errors import PunctuatedError
from punctuated.model.counters import COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from papers.lab.spark_engine import SparkEngine

PNG = b"\x89PNG\r\n"
STEP_US = 700_000


@pytest.fixture
def engine(spark: "SparkSession", tmp_path: Path) -> "Iterator[SparkEngine]":
    from papers.lab.spark_engine import SparkEngine

    yield SparkEngine(spark, tmp_path)
    assert not list(tmp_path.glob("*/tmp*"))  # no checkpoint is left


def silent_in_the_middle(table: pa.Table, first_us: int, last_us: int) -> pa.Table:
    ts = times_us(table)
    return table.filter(pa.array((ts < first_us) | (ts >= last_us)))


def counts_after_batches(trial: Trial) -> dict[str, list[int]]:
    """What the join over tables has counted after each batch, if its batches are the micro-batches."""
    start, end = trial.span_us()
    batches = [cut(table, STEP_US, (end - start) // STEP_US, start) for table in trial.tables]
    prepared = prepare(*trial.streams(*batches), trial.algorithm)
    driver, rows = prepared.driver(), []
    for left, right in prepared.batches:
        driver.process(left, right)
        rows.append(driver.counts())
    return {name: [row[name] for row in rows] for name in COLUMNS}


@pytest.mark.spark
def test_a_micro_batch_leaves_what_tables_hold_at_that_time(engine: "SparkEngine") -> None:
    left, right = (pt.streams.generate("punct-asc-30-40", n, seed=n) for n in (300, 350))
    gap = 1_300_000, 2_900_000  # both are silent for a whole micro-batch and more
    trial = Trial(
        "pwjoin",
        Input(silent_in_the_middle(left, *gap), 1, pt.when("last")),
        Input(silent_in_the_middle(right, *gap), 0.5, pt.when("last")),
    )
    reported: list[float] = []
    found = engine.sample(trial, STEP_US, reported.append)
    assert {name: found[name] for name in COLUMNS} == counts_after_batches(trial)
    at_once = TABLES.sample(trial, STEP_US)  # there a stream is known to be at the time of the other
    assert found["seconds"] == at_once["seconds"] and found["results"] == at_once["results"]
    assert max(abs(ours - theirs) for ours, theirs in zip(found["state"], at_once["state"], strict=True)) <= 3
    assert found["state"][-1] > 0 and found["punctuations_out"][-1] > 0 and found["results"][-1] > 0
    assert reported[-1] == 1.0 and all(earlier <= later for earlier, later in pairwise(reported))


@pytest.mark.spark
def test_a_race_times_micro_batches_in_turns(engine: "SparkEngine") -> None:
    tables = [pt.streams.generate("punct-asc-30-40", 500, seed=seed) for seed in (1, 2)]
    outcome = engine.race(with_and_without(tables, 1), 1_000_000, repeats=2)
    for join in outcome.values():
        assert join["batches"] == 4 and join["timed_share"] == 0.25
        assert len(join["repetitions_s"]) == 2 and join["curve"]["seconds"][-1] == sum(join["repetitions_s"])
        assert 0 < join["curve"]["results"][0] < join["curve"]["results"][-1] < join["results"]
    assert outcome["PWJoin"]["results"] == outcome["WJoin"]["results"]
    assert compared(outcome["PWJoin"], outcome["WJoin"]).endswith("per micro-batch, 2 of each)")


class Strict(Input):
    """A stream that must keep its promises."""

    def declare(self, name: str, data: Any) -> pt.Stream:
        declared: pt.Stream = pt.stream(
            data, name=name, key="key", time="ts", punctuations=self.punctuations, window=0, on_violation="fail"
        )
        return declared


@pytest.mark.spark
def test_a_query_that_fails_is_an_error(engine: "SparkEngine") -> None:
    table = pt.streams.generate("punct-asc-30-40", 300)
    broken = table.set_column(0, "key", pa.array([0] * len(table)))  # goes on after its end
    spoilt = Trial("pwjoin", Strict(broken, punctuations=pt.when("last")), Input(table, 1))
    with pytest.raises(PunctuatedError, match="query on Spark failed"):
        engine.race({"sound": alike("wjoin", (table, table), 1), "spoilt": spoilt}, STEP_US, repeats=1)


@pytest.mark.spark
def test_the_command_runs_an_experiment(spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the session of the tests; that the command gets one of its own is tested with the demo."""
    monkeypatch.setattr("papers.lab.spark_engine.local_spark", lambda *_: nullcontext(spark))
    name, options = "fig11_punctuations", ["--engine", "spark", "--out", str(tmp_path), "--json"]
    ran = CliRunner().invoke(app, ["run", name, *options, "--scale", "0.01"])
    assert ran.exit_code in (0, 1) and ran.stderr == ""  # 1: too short for a claim
    assert [each["name"] for each in json.loads(ran.stdout)["experiments"]] == [name]
    assert json.loads((tmp_path / f"{name}_spark.json").read_text())["engine"] == "spark"
    assert CliRunner().invoke(app, ["plot", name, *options]).exit_code == 0
    assert (tmp_path / f"{name}_spark.png").read_bytes().startswith(PNG)


# Without Spark


class Coarse:
    """Tables, seen as seldom as micro-batches would."""

    name = "spark"
    state_name = "tuples left by a micro-batch"
    race = TABLES.race

    def sample(self, trial: Trial, step_us: int, progress: Any = None) -> Any:
        return TABLES.sample(trial, step_us * 401, progress)


def test_the_best_case_says_that_objects_are_not_seen(tmp_path: Path) -> None:
    result = EXPERIMENTS["fig07_best_case"].run(engine=Coarse())
    claims = [claim["claim"] for claim in result["claims"]]
    assert [claim.startswith("After each micro-batch") for claim in claims] == [True, True, True, False]
    assert all(claim["holds"] for claim in result["claims"])
    assert "micro-batches of" in result["claims"][0]["found"]
    EXPERIMENTS["fig07_best_case"].plot(result, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_without_java_the_other_engine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PunctuatedError, match="--engine tables"), open_engine("spark", tmp_path / "log"):
        pass


def test_experiments_over_tables_do_not_import_pyspark() -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from papers.experiments import EXPERIMENTS\n"
        "EXPERIMENTS['fig08_memory'].run(scale=0.01)\n"
        "assert 'pyspark' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=LONGEST_S)


def test_alike_gives_both_streams_the_same() -> None:
    table = pt.streams.generate("unique-asc", 5)
    trial = alike("pjoin", (table, table), None, pt.when("last"))
    assert trial.left == trial.right and trial.span_us() == (times_us(table)[0], times_us(table)[-1])
