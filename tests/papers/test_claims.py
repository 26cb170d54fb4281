"""Every claim of every experiment can fail: a measurement that contradicts it makes the run fail, and it says so."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from papers import experiments
from papers.command import app
from papers.experiments import EXPERIMENTS
from papers.lab.experiment import Run
from papers.pwjoin.best_case import measure_case, synchronized
from spoilt import MEASURED, SPOILT

each_name = pytest.mark.parametrize("name", EXPERIMENTS)
each_claim = pytest.mark.parametrize(("name", "i"), [(name, i) for name in SPOILT for i in range(len(SPOILT[name]))])


@pytest.fixture(autouse=True)
def reference_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@cache
def measured(name: str) -> dict[str, Any]:
    return MEASURED[name]()


def spoilt(name: str, i: int) -> dict[str, Any]:
    """What was measured, changed so that the i-th claim does not hold."""
    result = deepcopy(measured(name))
    SPOILT[name][i](result)
    return result


def failing(claims: list[dict[str, Any]]) -> list[str]:
    return [claim["claim"] for claim in claims if not claim["holds"]]


@each_name
def test_all_claims_hold_on_what_is_to_be_spoilt(name: str) -> None:
    claims = EXPERIMENTS[name].judge(measured(name))
    assert failing(claims) == []
    assert len(SPOILT[name]) == len(claims), "a claim without a measurement that breaks it"


@each_claim
def test_a_measurement_that_contradicts_a_claim_breaks_it(name: str, i: int) -> None:
    claims = EXPERIMENTS[name].judge(spoilt(name, i))
    assert claims[i]["claim"] in failing(claims)


@each_name
def test_a_broken_claim_fails_the_run_and_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = len(SPOILT[name]) - 1
    changed = replace(EXPERIMENTS[name], measure=lambda *_: spoilt(name, last))
    monkeypatch.setattr(experiments, "EXPERIMENTS", {name: changed})
    ran = CliRunner().invoke(app, ["run", name, "--out", str(tmp_path), "--json"])
    assert ran.exit_code == 1
    summary = json.loads(ran.stdout)
    assert summary["holds"] is False
    assert summary["experiments"][0]["claims"][last]["claim"] in failing(summary["experiments"][0]["claims"])


def test_claims_of_figure_11_do_not_follow_from_each_other() -> None:
    for i in (0, 2):
        assert len(failing(EXPERIMENTS["fig11_punctuations"].judge(spoilt("fig11_punctuations", i)))) == 1


def test_figure_7_fails_where_b_comes_first() -> None:
    left, right = synchronized("cluster-asc-20", 300)
    case = measure_case(Run(), right, left)
    result = deepcopy(measured("fig07_best_case"))
    result["cases"]["clusters"] |= case
    claims = EXPERIMENTS["fig07_best_case"].judge(result)
    assert failing(claims) == [claims[i]["claim"] for i in (0, 1, 3)]
