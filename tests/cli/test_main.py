"""The command line: what it prints, what it writes, and how it fails."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from punctuated import streams
from punctuated.cli.main import app
from punctuated.errors import StreamError

needs_streams = pytest.mark.skipif(not hasattr(streams, "generate"), reason="the generators are not written yet")


def punctuated(*args: str | Path) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ([], ["demo", "generate", "run", "version"]),
        (["run"], ["--follow", "--once", "--check", "--tables", "--rows", "--trigger", "--master", "--conf", "--json"]),
        (["demo"], ["--out"]),
        (["generate"], ["--n", "--seed", "--out", "--gap", "--punctuations", "--json"]),
    ],
)
def test_help_names_what_there_is(command: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    outcome = punctuated(*command, "--help")
    assert outcome.exit_code == 0
    assert [word for word in words if word not in outcome.stdout] == []


def test_version_names_the_package_first() -> None:
    assert punctuated("version").stdout.startswith("punctuated 0.")


def test_version_as_json() -> None:
    assert {"punctuated", "pyspark", "python"} <= json.loads(punctuated("version", "--json").stdout).keys()


def test_an_error_of_ours_is_one_line_and_exit_code_two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(name: str, **options: object) -> pa.Table:
        raise StreamError(f"no stream is called {name!r} [sic]")

    monkeypatch.setattr(streams, "generate", refuse, raising=False)
    outcome = punctuated("generate", "nonsense", "--out", tmp_path / "a.parquet")
    assert outcome.exit_code == 2
    assert outcome.stdout == ""
    assert outcome.stderr == "error: no stream is called 'nonsense' [sic]\n"


def test_other_errors_are_not_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(name: str, **options: object) -> pa.Table:
        raise ZeroDivisionError

    monkeypatch.setattr(streams, "generate", fail, raising=False)
    assert isinstance(punctuated("generate", "x", "--out", tmp_path / "a.parquet").exception, ZeroDivisionError)


@pytest.mark.parametrize("options", [["--n", "0"], ["--punctuations", "some"], ["--n", "many"]])
def test_options_out_of_range_are_usage_errors(options: list[str], tmp_path: Path) -> None:
    outcome = punctuated("generate", "x", "--out", tmp_path / "a.parquet", *options)
    assert outcome.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_generate_hands_its_options_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = []

    def generate(name: str, **options: object) -> pa.Table:
        calls.append((name, options))
        return pa.table({"key": [1, 2]})

    monkeypatch.setattr(streams, "generate", generate, raising=False)
    out = tmp_path / "new" / "a.parquet"
    outcome = punctuated("generate", "x", "--out", out, "--n", "2", "--gap", "1 s", "--punctuations", "rows", "--json")
    assert calls == [("x", {"n": 2, "seed": 0, "gap": "1 s", "punctuations": "rows"})]
    assert json.loads(outcome.stdout) == {"files": [{"path": str(out), "rows": 2}]}
    assert pq.read_table(out).to_pydict() == {"key": [1, 2]}


def test_generate_auctions_writes_two_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def auctions(n: int, *, seed: int) -> tuple[pa.Table, pa.Table]:
        return pa.table({"item_id": list(range(n))}), pa.table({"bid": [seed]})

    monkeypatch.setattr(streams, "auctions", auctions, raising=False)
    assert punctuated("generate", "auctions", "--n", "3", "--seed", "7", "--out", tmp_path / "w.parquet").exit_code == 0
    assert pq.read_table(tmp_path / "w_auctions.parquet").num_rows == 3
    assert pq.read_table(tmp_path / "w_bids.parquet").to_pydict() == {"bid": [7]}


def test_generate_auctions_refuses_options_that_would_be_ignored(tmp_path: Path) -> None:
    outcome = punctuated("generate", "auctions", "--gap", "1 s", "--out", tmp_path / "w.parquet")
    assert outcome.exit_code == 2
    assert "--gap" in outcome.stderr


def test_generate_auctions_needs_the_name_of_a_file() -> None:
    outcome = punctuated("generate", "auctions", "--n", "1", "--out", "/")
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("error: --out / is a folder: give the name of a file")


def test_a_file_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(streams, "generate", lambda name, **options: pa.table({"key": [1]}), raising=False)
    (tmp_path / "file").touch()
    outcome = punctuated("generate", "x", "--out", tmp_path / "file" / "a.parquet")
    assert outcome.exit_code == 2
    assert str(tmp_path / "file") in outcome.stderr


@needs_streams
def test_generate_refuses_an_unknown_stream(tmp_path: Path) -> None:
    outcome = punctuated("generate", "no-such-stream", "--out", tmp_path / "a.parquet")
    assert outcome.exit_code == 2
    assert outcome.stderr.startswith("error: ")
    assert list(tmp_path.iterdir()) == []


@needs_streams
def test_generate_writes_the_stream_it_was_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    assert punctuated("generate", "punct-asc-100-40", "--n", "50", "--seed", "1", "--out", out).exit_code == 0
    expected = streams.generate("punct-asc-100-40", n=50, seed=1, gap="10 ms", punctuations="flag")
    assert pq.read_table(out).equals(expected)


def test_clean_shows_and_removes_what_failed_attempts_have_left(tmp_path: Path) -> None:
    (tmp_path / "batch_id=3").mkdir()
    (tmp_path / "batch_id=3" / "_SUCCESS").touch()
    staged = [tmp_path / "_staged" / f"{'ab' * 16}-{batch}-0000-000-attempt" for batch in (2, 3, 4)]
    for file in staged:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    assert "2 files of failed attempts; with --yes" in punctuated("clean", tmp_path).output
    found = json.loads(punctuated("clean", tmp_path, "--yes", "--json").output)
    assert found == {"files": [str(file) for file in staged[:2]], "done": True}
    assert "nothing to remove" in punctuated("clean", tmp_path).output
    assert [file.exists() for file in staged] == [False, False, True]
    assert "removed 1 file" in punctuated("clean", tmp_path, "--yes", "--stopped").output
    failed = punctuated("clean", tmp_path / "none")
    assert failed.exit_code == 2 and "no table" in failed.output
