"""`punctuated cost`: what it prints, with and without --json, and how it fails."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from punctuated.cli.main import app
from punctuated.plan import cost

PLAN = ["--left-rate", "100", "--right-rate", "200", "--left-values", "150", "--right-values", "300"]


def cost_command(*args: str) -> Result:
    return CliRunner().invoke(app, ["cost", *args])


@pytest.fixture(autouse=True)
def settings_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")


def lines_with(outcome: Result, *words: str) -> list[str]:
    assert outcome.exit_code == 0, outcome.stderr
    return [line for line in outcome.stdout.splitlines() if all(word in line for word in words)]


def test_help_names_the_commands() -> None:
    outcome = cost_command("--help")
    assert outcome.exit_code == 0
    assert [name for name in ("table", "plan", "best", "crossovers") if name not in outcome.stdout] == []


def test_table_marks_the_winners_of_the_paper_and_of_the_formulas() -> None:
    marked = lines_with(cost_command("table"), "* ")
    assert [line.split()[1] for line in marked] == ["TN", "HT", "HH"]
    assert marked[0].count("* 4.67") == 2


def test_table_as_json() -> None:
    rows = json.loads(cost_command("table", "--json").stdout)
    assert [row["windows"] for row in rows] == [[9500, 500], [7000, 3000], [4000, 6000]]
    assert [row["rates"] for row in rows] == [[2, 998], [800, 200], [550, 450]]
    for row in rows:
        assert "calibrated" not in row
        assert {pair: round(number, 2) for pair, number in row["recomputed"].items()} == row["paper"]


def test_saved_weights_add_a_column() -> None:
    even = cost.Weight(P=1e-4, I=1e-4)
    cost.save_weights(cost.Weights(even, even, even, even))
    outcome = cost_command("table", "--json")
    first = json.loads(outcome.stdout)[0]["calibrated"]
    assert first["NH"] == pytest.approx(1e-4 * (998 * 9500 + 2 * 2 + 2 * 10 + 2 * 998))
    assert len(lines_with(cost_command("table"), "calibrated")) == 3


def test_weights_that_cannot_be_read_are_named() -> None:
    path = cost.weights_path()
    path.parent.mkdir()
    path.write_text("nonsense")
    outcome = cost_command("table")
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert str(path) in outcome.stderr


def test_best_lists_the_candidates_with_the_cheapest_first() -> None:
    command = ["best", "--windows", "9500", "500", "--rates", "2", "998"]
    found = json.loads(cost_command(*command, "--json").stdout)
    assert (len(found), found[0]["pair"]) == (16, "BN")
    without = json.loads(cost_command(*command, "--structures", "NHT", "--json").stdout)
    assert len(without) == 9
    assert without[0] == {
        "pair": "TN",
        "cost": pytest.approx(4.66856),
        "directions": [pytest.approx(0.4996), pytest.approx(4.16896)],
    }
    assert len(lines_with(cost_command(*command), "TN", "4.67", "T-tree", "nested loops")) == 1


def test_best_hands_its_options_over() -> None:
    options = ["--predicate", "<", "--matches", "30", "60", "--node-size", "50", "--bucket-size", "3"]
    outcome = cost_command("best", "--windows", "900", "500", "--rates", "20", "30", *options, "--json")
    expected = cost.candidates(
        windows=(900, 500), rates=(20, 30), predicate="<", matches=(30, 60), node_size=50, bucket_size=3
    )
    assert [(each["pair"], each["cost"]) for each in json.loads(outcome.stdout)] == [
        (each.pair, each.cost) for each in expected
    ]


def test_best_with_the_weights_of_this_machine() -> None:
    free, dear = cost.Weight(P=1e-9, I=1e-9), cost.Weight(P=1, I=1)
    cost.save_weights(cost.Weights(N=free, H=dear, B=dear, T=dear))
    command = ["best", "--windows", "9500", "500", "--rates", "2", "998", "--json"]
    assert json.loads(cost_command(*command).stdout)[0]["pair"] == "BN"
    assert json.loads(cost_command(*command, "--calibrated").stdout)[0]["pair"] == "NN"


def test_crossovers_of_figure_two() -> None:
    found = json.loads(cost_command("crossovers", "--json").stdout)
    assert [(each["before"], each["after"], f"{each['share']:.1%}") for each in found] == [
        ("TN", "TH", "0.1%"),
        ("TH", "HH", "21.6%"),
        ("HH", "HT", "78.4%"),
        ("HT", "NT", "99.9%"),
    ]
    assert len(lines_with(cost_command("crossovers"), "TN", "TH", "0.09%", "0.00091 : 1")) == 1


def test_crossovers_hands_its_options_over() -> None:
    options = ["--windows", "7000", "3000", "--all", "--bucket-size", "4", "--node-size", "64"]
    found = json.loads(cost_command("crossovers", *options, "--json").stdout)
    expected = cost.crossovers((7000, 3000), pairs=cost.ALL_PAIRS, bucket_size=4, node_size=64)
    assert [(each["before"], each["after"], each["share"]) for each in found] == [
        (each.before, each.after, each.share) for each in expected
    ]


def test_crossovers_where_there_are_none() -> None:
    outcome = cost_command("crossovers", "--windows", "1", "1", "--all")
    assert outcome.stdout.startswith("no crossovers: ")
    assert json.loads(cost_command("crossovers", "--windows", "1", "1", "--all", "--json").stdout) == []


def test_plan_as_json() -> None:
    options = ["--left-window", "15 s", "--right-window", "10 s", "--left-punctuations", "1.5"]
    more = ["--right-punctuations", "5", "--tuple-bytes", "100", "--cores", "4", "--throughput", "150"]
    size = json.loads(cost_command("plan", *PLAN, *options, *more, "--json").stdout)
    assert size["lifetimes_s"] == [15, 185]
    assert size["tuples"] == [pytest.approx(948.2, abs=0.1), pytest.approx(1946.9, abs=0.1)]
    assert size["tuple_bytes"] == [100 * tuples for tuples in size["tuples"]]
    assert size["punctuations"] == 97.5
    assert size["memory_bytes"] == sum(size["tuple_bytes"]) + 97.5 * 56
    assert size["results_per_s"] == pytest.approx(500_000 / 300)
    assert (size["cpu_s"], size["cores_needed"], size["load"], size["buckets"]) == (2, 2, 0.5, 2)


def test_plan_takes_lifetimes() -> None:
    options = ["--left-window", "1 hour", "--right-window", "1 hour", "--left-punctuations", "1"]
    lifetimes = ["--right-punctuations", "1", "--left-lifetime", "3 s", "--right-lifetime", "0 s"]
    outcome = cost_command("plan", *PLAN, *options, *lifetimes)
    assert len(lines_with(outcome, "left", "3,600 s", "3 s", "300")) == 1
    assert len(lines_with(outcome, "right", "3,600 s", "0 s", " 0 ")) == 1


def test_plan_as_tables() -> None:
    options = ["--left-window", "1 hour", "--elapsed", "2 hours", "--selectivity", "0.5", "--bucket-memory", "40 MiB"]
    outcome = cost_command("plan", *PLAN, *options, "--cores", "1000")
    assert len(lines_with(outcome, "left", "3,600 s", "360,000", "29.2 MiB")) == 1
    assert len(lines_with(outcome, "right", "none", "1,440,000", "116.7 MiB")) == 1
    assert len(lines_with(outcome, "results per second", "108,000,000")) == 1
    assert len(lines_with(outcome, "cores needed", "26")) == 1
    assert len(lines_with(outcome, "load of the cores at hand", "3%")) == 1
    assert len(lines_with(outcome, "buckets", "32 of 4.6 MiB")) == 1


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (["best", "--windows", "1", "1", "--rates", "1", "1", "--predicate", "like"], "known are: =, <"),
        (["best", "--windows", "1", "1", "--rates", "1", "1", "--node-size", "1"], "give 2 or more"),
        (["best", "--windows", "1", "nan", "--rates", "1", "1"], "0 or more"),
        (["best", "--windows", "1", "1", "--rates", "1", "1", "--calibrated"], "there are no weights in"),
        (["crossovers", "--bucket-size", "0"], "give 1 or more"),
        (["plan", *PLAN, "--left-window", "1 hour"], "give elapsed, "),
        (["plan", *PLAN, "--left-window", "soon", "--right-window", "1 h"], "soon"),
        (["plan", *PLAN, "--elapsed", "1 h", "--cores", "0"], "cores=0"),
    ],
)
def test_errors_are_one_line_that_says_what_to_change(command: list[str], remedy: str) -> None:
    outcome = cost_command(*command)
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("error: ")
    assert remedy in outcome.stderr
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["best", "--rates", "1", "1"], ["plan"], ["best", "--windows", "1"]])
def test_missing_options_are_usage_errors(command: list[str]) -> None:
    assert cost_command(*command).exit_code == 2
