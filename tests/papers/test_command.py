"""`python -m papers`: what it prints, what it writes, and how it fails."""

import json
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from papers import experiments
from papers.command import app
from papers.lab import engine as engines
from papers.lab.claim import NOT_REPORTED, Claim
from papers.lab.experiment import Experiment, Run
from papers.lab.tables_engine import TABLES, TablesEngine
from patience import LONGEST_S

ROOT = Path(__file__).resolve().parents[2]


def papers(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def figure(name: str, holds: bool = True) -> Experiment:
    """An experiment that judges one claim without measuring anything."""

    def measure(run: Run) -> dict[str, Any]:
        return {"scale": run.scale}

    def plot(result: dict[str, Any], path: Path) -> None:
        path.write_text(f"picture of {name} at {result['scale']}")

    claim = Claim("state [bounded]", NOT_REPORTED, lambda m: m["scale"], lambda _: holds, "scale {}")
    return Experiment(name, "State over time", "PWJoin figure 8", measure, (claim,), plot)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = replace(figure("formulas"), engines=("tables",))
    known = {"kept": figure("kept"), "broken": figure("broken", holds=False), "formulas": formulas}
    monkeypatch.setattr(experiments, "EXPERIMENTS", known)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is called spark and is none."""

    class Elsewhere(TablesEngine):
        name = "spark"

    monkeypatch.setattr(
        engines, "open_engine", lambda name, log: nullcontext(Elsewhere() if name == "spark" else TABLES)
    )


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([], ["list", "run", "plot"]),
        (["run"], ["--out", "--scale", "--engine", "--json"]),
        (["plot"], ["--out", "--pictures", "--engine"]),
    ],
)
def test_help_names_what_there_is(command: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    outcome = papers(*command, "--help")
    assert outcome.exit_code == 0
    assert [word for word in words if word not in outcome.stdout] == []


def test_the_module_runs() -> None:
    command = [sys.executable, "-m", "papers", "list", "--json"]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=LONGEST_S)
    assert {row["name"] for row in json.loads(outcome.stdout)} == set(experiments.EXPERIMENTS)


@pytest.mark.usefixtures("figures")
def test_list() -> None:
    outcome = papers("list", "--json")
    assert {row["name"]: row["engines"] for row in json.loads(outcome.stdout)} == {
        "kept": ["tables", "spark"],
        "broken": ["tables", "spark"],
        "formulas": ["tables"],
    }
    shown = papers("list").stdout
    assert "PWJoin figure 8" in shown and "tables, spark" in shown


@pytest.mark.usefixtures("figures")
def test_run_writes_the_result_and_prints_the_claims(tmp_path: Path) -> None:
    outcome = papers("run", "kept", "--scale", "0.5", "--out", tmp_path)
    assert outcome.exit_code == 0
    assert "state [bounded]" in outcome.stdout
    assert json.loads((tmp_path / "kept.json").read_text())["scale"] == 0.5


@pytest.mark.usefixtures("figures")
def test_a_claim_that_fails_is_exit_code_one(tmp_path: Path) -> None:
    outcome = papers("run", "all", "--out", tmp_path, "--json")
    assert outcome.exit_code == 1
    assert outcome.stderr == ""
    summary = json.loads(outcome.stdout)
    assert summary["holds"] is False
    assert [row["name"] for row in summary["experiments"]] == ["kept", "broken", "formulas"]
    assert summary["left_out"] == []


@pytest.mark.usefixtures("figures")
def test_a_claim_that_fails_is_said_to(tmp_path: Path) -> None:
    outcome = papers("run", "broken", "--out", tmp_path)
    (line,) = [line for line in outcome.stdout.splitlines() if "state [bounded]" in line]
    assert outcome.exit_code == 1
    assert "no" in line.split() and "yes" not in line.split()


@pytest.mark.usefixtures("figures")
@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (["run", "unknown"], "kept, broken, formulas, or all"),
        *(
            (["run", "kept", "--scale", each], f"--scale {each}: give a number above 0")
            for each in ("nan", "inf", "0.0", "-1.0")
        ),
        (["plot", "kept"], "python -m papers run kept"),
        (["plot", "all"], "python -m papers run all"),
        (["plot", "kept", "--engine", "spark"], "--engine spark"),
        (["run", "kept", "--engine", "flink"], "spark"),
        (["run", "formulas", "--engine", "spark"], "formulas does not run on spark: its engines are tables"),
        (["plot", "formulas", "--engine", "spark"], "formulas does not run on spark: its engines are tables"),
    ],
)
def test_errors_say_what_to_do(command: list[str], remedy: str, tmp_path: Path) -> None:
    outcome = papers(*command, "--out", tmp_path)
    assert outcome.exit_code == 2
    assert remedy in outcome.stderr
    assert list(tmp_path.iterdir()) == []  # Spark was not even started


@pytest.mark.usefixtures("figures", "elsewhere")
def test_all_on_spark_leaves_out_what_does_not_run_there_and_says_so(tmp_path: Path) -> None:
    outcome = papers("run", "all", "--engine", "spark", "--out", tmp_path)
    assert "left out, because they do not run on spark: formulas" in outcome.stderr
    assert {path.name for path in tmp_path.glob("*.json")} == {"kept_spark.json", "broken_spark.json"}
    as_json = papers("run", "all", "--engine", "spark", "--json", "--out", tmp_path)
    assert json.loads(as_json.stdout)["left_out"] == ["formulas"] and as_json.stderr == ""


@pytest.mark.usefixtures("figures")
def test_plot_draws_what_has_been_run(tmp_path: Path) -> None:
    papers("run", "kept", "--out", tmp_path)
    outcome = papers("plot", "all", "--out", tmp_path, "--pictures", tmp_path / "docs")
    assert outcome.stdout == f"{tmp_path / 'docs' / 'kept.png'}\n"
    assert (tmp_path / "docs" / "kept.png").read_text() == "picture of kept at 1.0"


@pytest.mark.usefixtures("figures", "elsewhere")
def test_results_on_spark_stand_beside_those_on_tables(tmp_path: Path) -> None:
    for engine in ("tables", "spark"):
        papers("run", "kept", "--out", tmp_path, "--engine", engine)
        papers("plot", "all", "--out", tmp_path, "--engine", engine)
    written = {path.stem: json.loads(path.read_text())["engine"] for path in tmp_path.glob("*.json")}
    assert written == {"kept": "tables", "kept_spark": "spark"}
    assert {path.stem for path in tmp_path.glob("*.png")} == set(written)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def plot(result: dict[str, Any], path: Path) -> None:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr(experiments, "EXPERIMENTS", {"f": replace(figure("f"), plot=plot)})
    papers("run", "f", "--out", tmp_path)
    outcome = papers("plot", "f", "--out", tmp_path)
    assert outcome.exit_code == 2
    assert 'pip install "punctuated[plot]"' in outcome.stderr


@pytest.mark.usefixtures("figures")
def test_several_experiments_run_in_the_order_given(tmp_path: Path) -> None:
    outcome = papers("run", "formulas", "kept", "--out", tmp_path, "--json")
    assert outcome.exit_code == 0
    assert [row["name"] for row in json.loads(outcome.stdout)["experiments"]] == ["formulas", "kept"]
    written = json.loads((tmp_path / "kept.json").read_text())
    assert written["claims"] == [
        {"claim": "state [bounded]", "report": NOT_REPORTED, "found": "scale 1.0", "holds": True}
    ]
