"""`punctuated run`: what it checks, prints and writes, how it stops, and how it fails."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

import punctuated as pt
from punctuated.cli.main import app
from punctuated.cli.rows import RowLines
from punctuated.cli.run_progress import WatchedQuery
from punctuated.cli.run_spark import Interrupts
from punctuated.cli.view import JsonView, LinesView
from punctuated.model.times import FOREVER
from punctuated.spark.metrics.join_metrics import Counters, JoinMetrics
from punctuated.spark.source.auctions import AuctionStream, auction_table
from punctuated.sql.run.figures import Figures

ROOT = Path(__file__).resolve().parents[2]
STREAMS = """
CREATE STREAM auctions (KEY item_id, TIME opened_at, WINDOW [RANGE 1 HOUR], PUNCTUATED BY UNIQUE)
FROM 'generator' OPTIONS (stream 'auctions', {options});
CREATE STREAM bids (KEY item_id, TIME bid_at, PUNCTUATED BY WHEN closed)
FROM 'generator' OPTIONS (stream 'bids', {options});
"""
JOIN = "SELECT A.item_id, COUNT(*) AS n FROM auctions A, bids B WHERE A.item_id = B.item_id GROUP BY A.item_id"
ALL = "SELECT * FROM auctions A, bids B WHERE A.item_id = B.item_id"


def punctuated(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def script(folder: Path, *statements: str, options: str = "auctions 60, seed 1, step '10 minutes'") -> Path:
    path = folder / "script.sql"
    path.write_text(STREAMS.format(options=options) + ";\n".join(statements), encoding="utf-8")
    return path


def counts(auctions: int, seed: int) -> dict[int, int]:
    """Bids per auction, all within the hour that an auction lasts at most."""
    _, bids = pt.streams.auctions(auctions, seed=seed)
    return dict(Counter(bids["item_id"].to_pylist()))


# Checks


def test_a_check_shows_plans_and_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    path = script(tmp_path, f"INSERT INTO 'parquet' OPTIONS (path 'out') {JOIN}", f"EXPLAIN {ALL}")
    outcome = punctuated("run", "--check", path)
    assert outcome.exit_code == 0, outcome.output
    for words in (
        f"{path}:6:1: INSERT INTO parquet {tmp_path}/out",
        "punctuations: from flag 'closed'",
        "2 streams, 2 statements",
    ):
        assert words in outcome.output
    assert list(tmp_path.iterdir()) == [path]


def test_a_check_for_machines(tmp_path: Path) -> None:
    outcome = punctuated("run", "--check", "--json", script(tmp_path, JOIN))
    streams, plan = map(json.loads, outcome.stdout.splitlines())
    assert set(streams["streams"]) == {"auctions", "bids"}
    assert (plan["statement"], plan["line"], plan["column"]) == ("select", 6, 1)


@pytest.mark.parametrize(
    ("statement", "place", "words"),
    [
        ("SELECT A.itm_id FROM auctions A", "6:8", "did you mean 'item_id'"),
        ("SELECT item_id FROM auctoins", "6:21", "did you mean 'auctions'"),
        ("SELEC item_id FROM auctions", "6:1", "SELECT"),
        ("INSERT INTO 'parquet' SELECT * FROM auctions", "6:1", "path"),
        (
            "INSERT INTO 'parquet' OPTIONS (path 'x', sort_by 'prise') SELECT * FROM auctions",
            "6:1",
            "no column 'prise'",
        ),
        ("INSERT INTO 'csv' OPTIONS (path 'x', PATH 'y') SELECT * FROM auctions", "6:38", "given twice"),
    ],
)
def test_errors_point_at_the_place(statement: str, place: str, words: str, tmp_path: Path) -> None:
    path = script(tmp_path, statement)
    outcome = punctuated("run", path)
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith(f"{path}:{place}: ")
    assert words in outcome.stderr
    assert "Traceback" not in outcome.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--follow", "--once"], "give one of them"),
        (["--trigger", "5 seconds"], "--trigger is for --follow"),
        (["--conf", "nonsense"], "give name=value"),
        (["--follow", "--trigger", "nonsense"], "cannot read the duration 'nonsense'"),
    ],
)
def test_options_that_do_not_go_together(arguments: list[str], words: str, tmp_path: Path) -> None:
    outcome = punctuated("run", *arguments, script(tmp_path, JOIN))
    assert outcome.exit_code == 2
    assert words in outcome.stderr


def test_what_is_no_script(tmp_path: Path) -> None:
    assert "No such file" in punctuated("run", tmp_path / "none.sql").stderr
    (tmp_path / "empty.sql").write_text("-- nothing", encoding="utf-8")
    assert "has no query to run" in punctuated("run", tmp_path / "empty.sql").stderr


def test_a_mark_before_the_text_is_no_part_of_it(tmp_path: Path) -> None:
    path = script(tmp_path, JOIN)
    path.write_text(path.read_text(encoding="utf-8").strip(), encoding="utf-8-sig")
    assert punctuated("run", "--check", path).exit_code == 0


def test_a_stream_without_end_must_be_followed(tmp_path: Path) -> None:
    outcome = punctuated("run", script(tmp_path, JOIN, options="seed 1"))
    assert outcome.exit_code == 2
    assert f"{tmp_path}/script.sql:3:6: stream 'auctions' never ends" in outcome.stderr
    assert "--follow" in outcome.stderr


def test_two_queries_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    same = f"INSERT INTO 'parquet' OPTIONS (path 'out') {JOIN}"
    outcome = punctuated("run", "--check", script(tmp_path, same, same))
    assert outcome.exit_code == 2
    assert "the statement in line 6" in outcome.stderr


# Without Spark


def test_rows_of_a_select_are_printed(tmp_path: Path) -> None:
    outcome = punctuated("run", "--tables", script(tmp_path, JOIN))
    header, line, *rows = outcome.stdout.splitlines()
    assert (header.split(), set(line)) == (["item_id", "│", "n"], {"─", "┼"})
    assert {int(row.split()[0]): int(row.split()[2]) for row in rows} == counts(60, 1)


def test_rows_as_json(tmp_path: Path) -> None:
    outcome = punctuated("run", "--tables", "--json", script(tmp_path, JOIN))
    rows = [json.loads(line)["row"] for line in outcome.stdout.splitlines()]
    assert {row["item_id"]: row["n"] for row in rows} == counts(60, 1)


def test_an_explain_prints_the_plan(tmp_path: Path) -> None:
    outcome = punctuated("run", "--tables", script(tmp_path, f"EXPLAIN {ALL}"))
    assert f"{tmp_path}/script.sql:6:1: EXPLAIN" in outcome.stdout
    assert "pwjoin" in outcome.stdout


@pytest.mark.parametrize("sink", ["parquet", "csv", "json"])
def test_tables_are_written_anew_by_each_run(sink: str, tmp_path: Path) -> None:
    beside = ", rejected 'rejected'" if sink == "parquet" else ""
    path = script(tmp_path, f"INSERT INTO '{sink}' OPTIONS (path 'out'{beside}) {JOIN}")
    for _ in range(2):
        assert punctuated("run", "--tables", path).exit_code == 0
    written = ds.dataset(tmp_path / "out", format=sink).to_table()
    assert dict(zip(written["item_id"].to_pylist(), written["n"].to_pylist(), strict=True)) == counts(60, 1)
    assert (tmp_path / "rejected").exists() is (sink == "parquet")


def test_a_folder_of_others_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "theirs.txt").write_text("precious", encoding="utf-8")
    outcome = punctuated("run", "--tables", script(tmp_path, f"INSERT INTO 'csv' OPTIONS (path 'out') {JOIN}"))
    assert outcome.exit_code == 2
    assert "theirs.txt" in outcome.stderr


def test_values_that_json_has_no_word_for(tmp_path: Path) -> None:
    rows = {"k": [1], "at": pa.array([0], pa.timestamp("us", "UTC")), "größe": [b"\xff"], "day": [date(2024, 5, 1)]}
    pq.write_table(pa.table(rows), tmp_path / "in.parquet")
    source = "CREATE STREAM s (KEY k, TIME at) FROM 'parquet' OPTIONS (path 'in.parquet');"
    (tmp_path / "s.sql").write_text(
        source + "INSERT INTO 'json' OPTIONS (path 'out') SELECT * FROM s", encoding="utf-8"
    )
    assert punctuated("run", "--tables", tmp_path / "s.sql").exit_code == 0
    written = (tmp_path / "out" / "part-0000.json").read_text(encoding="utf-8")
    assert written == '{"k": 1, "at": "1970-01-01T00:00:00+00:00", "größe": "/w==", "day": "2024-05-01"}\n'


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    outcome = punctuated("run", "--tables", script(tmp_path, f"INSERT INTO 'csv' OPTIONS (path 'file/out') {JOIN}"))
    assert outcome.exit_code == 2
    assert "script.sql:6:1: cannot write 'csv' to " in outcome.stderr


def test_two_statements_do_not_replace_each_others_rows(tmp_path: Path) -> None:
    each = "INSERT INTO 'csv' OPTIONS (path 'out', checkpoint '{}') " + JOIN
    outcome = punctuated("run", "--tables", script(tmp_path, each.format("a"), each.format("b")))
    assert outcome.exit_code == 2
    assert "give each a place of its own" in outcome.stderr


def test_a_sink_that_needs_spark(tmp_path: Path) -> None:
    outcome = punctuated("run", "--tables", script(tmp_path, f"INSERT INTO 'kafka' OPTIONS (topic 't') {JOIN}"))
    assert outcome.exit_code == 2
    assert "'kafka' needs Spark" in outcome.stderr


def test_the_example_runs_out_of_the_box(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    path = tmp_path / "examples" / "auctions.sql"
    path.write_text((ROOT / "examples" / "auctions.sql").read_text(encoding="utf-8"), encoding="utf-8")
    outcome = punctuated("run", "--tables", "--json", path)
    assert outcome.exit_code == 0, outcome.output
    expected = counts(5_000, 1)
    told = [json.loads(line) for line in outcome.stdout.splitlines()]
    printed = {each["row"]["item_id"]: each["row"]["bids"] for each in told if each["event"] == "row"}
    assert printed == {item: n for item, n in expected.items() if n >= 530}
    table = written(tmp_path / "out" / "auctions" / "counts")
    assert dict(zip(table["item_id"].to_pylist(), table["bids"].to_pylist(), strict=True)) == expected


def test_the_example_in_the_docs_is_the_one_that_runs() -> None:
    shown = (ROOT / "docs" / "running_scripts.md").read_text(encoding="utf-8")
    statements = (ROOT / "examples" / "auctions.sql").read_text(encoding="utf-8").split("\n\n")
    creates = [each for each in statements if each.startswith("CREATE")]
    assert len(creates) == 2
    assert all(each in shown for each in creates)


# Views


def figures() -> Figures:
    times = iter(range(100))
    found = Figures(clock=lambda: float(next(times)))
    total = Counters(tuples_left=100, state_left=7, punctuations_right=3, rejected_late_left=2, punctuations_out=4)
    names = {"left": "A", "right": "B"}
    watermarks: dict[str, int | None] = {"left": 1_000_000, "right": FOREVER}
    found.add_metrics(
        JoinMetrics("id", "q", "", 0, "", 100, 2, 0, 0, 0, 2, watermarks, total=total, in_batch=total, streams=names)
    )
    found.add_output(50)
    return found


def test_figures_are_those_of_the_metrics() -> None:
    found = figures()
    left, right = found.streams["A"], found.streams["B"]
    assert (left.rows_in, left.state, left.rejected, left.behind_s(11.0)) == (100, 7, 2, 10.0)
    assert (right.punctuations, right.has_ended, right.behind_s(11.0)) == (3, True, None)
    assert (found.rows_in, found.rows_out, found.punctuations_out, found.rejected) == (100, 50, 4, 2)
    assert left.per_second == 100.0  # in the one second since the query began
    found.tick()
    assert 0 < found.streams["A"].per_second < 100.0


def test_a_query_in_a_line_and_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    watched = WatchedQuery("counts", "parquet out", figures(), "running")
    line = watched.line()
    for words in (
        "100 rows in",
        "50 rows",
        "4 punctuations",
        "state 7 + 0",
        "2 rejected",
        "1970-01-01 00:00:01, ended",
    ):
        assert words in line
    console = Console(width=120)
    for part in watched.draw():
        console.print(part)
    shown = capsys.readouterr().out
    for words in ("counts → parquet out", "running", "A", "100", "1970-01-01 00:00:01", "ended"):
        assert words in shown


def test_views_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    watched = WatchedQuery("counts", "parquet out", figures())
    JsonView(sys.stdout).show([watched])
    told = json.loads(capsys.readouterr().out)
    assert (told["event"], told["query"], told["streams"]["A"]["state"]) == ("batch", "counts", 7)
    view = LinesView()
    view.rows("q", pa.table({"k": [1], "name": ["x"]}))
    view.end(watched)
    shown = capsys.readouterr()
    assert shown.out == "       k │ name\n─────────┼─────\n       1 │ x\n"
    assert "100 rows in" in shown.err


def test_rows_share_a_header_until_another_query_prints() -> None:
    lines, table = RowLines(most=2), pa.table({"k": ["one", "two", "three"]})
    shown = list(lines.of("q", table))
    assert shown == ["k", "───", "one", "two", "… 1 more rows of this micro-batch (--rows 0 shows all)"]
    assert next(lines.of("q", table)) == "one"
    assert next(lines.of("other", table)) == "k"


def test_the_first_interrupt_asks_and_the_second_ends() -> None:
    code = """
import os, signal, time
from punctuated.cli.run_spark import Interrupts
with Interrupts() as stop:
    os.kill(os.getpid(), signal.SIGINT)
    print(stop.asked, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    print("never")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.stdout.split(), ended.returncode) == (["True"], 128 + signal.SIGTERM)
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


# On Spark, in processes of their own


def start(*args: str | Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", "from punctuated.cli.main import app; app()", "run", *map(str, args)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, text=True, start_new_session=True, env=os.environ, stdout=pipe, stderr=pipe)


def written(folder: Path) -> pa.Table:
    return ds.dataset([str(path) for path in sorted(folder.rglob("*.parquet"))]).to_table()


@pytest.mark.spark
def test_from_the_generator_to_parquet_and_back(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        f"INSERT INTO 'parquet' OPTIONS (path 'out') {JOIN}",
        "INSERT INTO 'json' OPTIONS (path 'json') SELECT item_id FROM auctions",
        "SELECT item_id FROM auctions",
    )
    run = start(path)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 0, err
    table = written(tmp_path / "out")
    assert dict(zip(table["item_id"].to_pylist(), table["n"].to_pylist(), strict=True)) == counts(60, 1)
    assert sorted(int(line) for line in out.splitlines() if line.strip().isdigit()) == list(range(60))
    lines = [line for file in (tmp_path / "json").glob("*.json") for line in file.read_text().splitlines()]
    assert sorted(json.loads(line)["item_id"] for line in lines) == list(range(60))
    assert "json: micro-batch" in err and "60 rows in, 60 rows" in err


@pytest.mark.spark
def test_a_stop_leaves_a_checkpoint_and_each_row_comes_once(tmp_path: Path) -> None:
    path = script(tmp_path, f"INSERT INTO 'parquet' OPTIONS (path 'out') {ALL}", options="speed 300, seed 1")
    ends: list[dict[str, Any]] = []
    for _ in range(2):
        run = start("--follow", "--json", path)
        ends.append(_stopped_after(run, rows_in=len(ends) * 1_000 + 1_000))
    first, last = ends
    assert first["status"] == last["status"] == "stopped: start it again to go on"
    assert last["rows_in"] > first["rows_in"] >= 1_000
    table = written(tmp_path / "out")
    assert first["rows_out"] + last["rows_out"] >= len(table) > 0
    found = list(zip(*(table[name].to_pylist() for name in ("item_id", "bidder_id", "bid_at")), strict=True))
    assert len(set(found)) == len(found)
    done = max(at for _, _, at in found) - timedelta(minutes=30)  # of event time: what came later may not be joined yet
    bids = auction_table(AuctionStream("bids", seed=1)).to_pylist()
    assert {(bid["item_id"], bid["bidder_id"], bid["bid_at"]) for bid in bids if bid["bid_at"] <= done} <= set(found)


def _stopped_after(run: "subprocess.Popen[str]", rows_in: int) -> dict[str, Any]:
    """Interrupt the run once so many rows have come in; what it says at the end."""
    with run:
        assert run.stdout is not None
        assert run.stderr is not None
        began = time.monotonic()
        for told in map(json.loads, run.stdout):
            if told["event"] == "batch" and told["rows_in"] >= rows_in:
                break
            assert time.monotonic() - began < 240, "it takes too long"
        run.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in run.stdout]
        err = run.stderr.read()
    assert run.returncode == 0, err
    ends = [told for told in rest if told["event"] == "end"]
    assert len(ends) == 1, err
    return dict(ends[0])
