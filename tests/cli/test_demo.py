"""The demo runs on Spark and on tables, through the command line, and both tell the same story."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from patience import LONGEST_S
from punctuated.cli import auction_demo as demo
from punctuated.cli import demo_tables
from punctuated.cli.demo_view import LiveView
from punctuated.cli.main import app
from punctuated.errors import PunctuatedError
from punctuated.spark.session import local as local_spark

PNG = b"\x89PNG\r\n"
SMALL = ("--auctions", "400", "--batches", "4")
NUMBERS = ("batch", "event_minutes", "open_auctions", "with_punctuations", "without_punctuations")


def events(text: str) -> dict[str, list[dict[str, Any]]]:
    """JSON lines by their kind."""
    found: dict[str, list[dict[str, Any]]] = {"status": [], "batch": [], "summary": []}
    for line in text.splitlines():
        event = json.loads(line)
        found[event["event"]].append(event)
    return found


def on_tables(out: Path, *options: str) -> str:
    outcome = CliRunner().invoke(app, ["demo", "--no-spark", *SMALL, "--out", str(out), *options])
    assert outcome.exit_code == 0, outcome.output
    assert (out / "demo.png").read_bytes().startswith(PNG)
    return outcome.stdout


@pytest.mark.spark
def test_on_spark_it_tells_the_same_as_on_tables(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from punctuated.cli.main import app; app()", "demo", "--json", *SMALL]
    environment = os.environ | {"SPARK_HOME": "/nonexistent"}  # of another installation: not ours
    outcome = subprocess.run(
        [*command, "--out", tmp_path], capture_output=True, text=True, timeout=LONGEST_S, check=False, env=environment
    )
    log = tmp_path / "spark.log"
    assert outcome.returncode == 0, outcome.stderr + (log.read_text() if log.exists() else "")
    assert outcome.stderr == ""
    assert (tmp_path / "demo.png").read_bytes().startswith(PNG)

    spark, tables = events(outcome.stdout), events(on_tables(tmp_path / "tables", "--json"))
    for one, two in zip(spark["batch"], tables["batch"], strict=True):
        assert {name: one[name] for name in NUMBERS} == {name: two[name] for name in NUMBERS}
    assert [event["on"] for event in (*spark["summary"], *tables["summary"])] == ["spark", "tables"]
    assert ["starting Spark" in event["doing"] for event in spark["status"]] == [True, False]


def test_json_lines_end_with_a_summary(tmp_path: Path) -> None:
    found = events(on_tables(tmp_path, "--json"))
    assert [event["batch"] for event in found["batch"]] == [0, 1, 2, 3]
    (summary,) = found["summary"]
    ours, theirs = summary["with_punctuations"], summary["without_punctuations"]
    assert summary["same_results"]
    assert ours["most_in_state"] == ours["most_auctions_in_state"] <= theirs["most_auctions_in_state"]
    assert ours["final"] > theirs["final"] == 0
    assert ours["bids_in_state"] == 0 < theirs["bids_in_state"]
    written = json.loads((tmp_path / "demo.json").read_text(encoding="utf-8"))
    assert written == {name: summary[name] for name in written}


def test_plain_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    text = on_tables(tmp_path / "new")
    assert "\x1b" not in text
    assert text.count(" tuples in  ") == 4
    assert "Both joins gave the same number of results" in text
    assert str(tmp_path / "new" / "demo.png") in text


def test_a_table_is_redrawn_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_tables, "REPLAY_S", 0.1)
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    assert demo.run(LiveView(console), tmp_path, auctions=400, batches=4, spark=False)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "auctions final" in text and "auctions open" in text and "just final: auction" in text
    assert "Both joins gave the same number of results" in text


def test_a_view_is_closed_when_something_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(demo, "_write", fail)
    view = LiveView(Console(file=io.StringIO(), force_terminal=True))
    monkeypatch.setattr(demo_tables, "REPLAY_S", 0.1)
    with pytest.raises(RuntimeError):
        demo.run(view, tmp_path, auctions=50, batches=2, spark=False)
    assert not view._live.is_started


# Java


def fake_java(home: Path, said: str) -> None:
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_java_that_is_new_enough_is_taken(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, f'openjdk version "{version}" 2025-04-15')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    local_spark.check_java("do without")


@pytest.mark.parametrize(
    ("said", "found"),
    [('openjdk version "1.8.0_402"', "version 8"), ('java version "11.0.2"', "version 11"), ("no idea", "holds none")],
)
def test_an_old_java_is_named(said: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(tmp_path, said)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PunctuatedError, match=found):
        local_spark.check_java("do without")


def test_without_java_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "out")])
    assert outcome.exit_code == 2
    assert "no java on the PATH" in outcome.stderr and "openjdk-17" in outcome.stderr and "--no-spark" in outcome.stderr
