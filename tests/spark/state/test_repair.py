"""A file sink forgets the one batch that its query has not committed, and nothing else."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import punctuated as pt
from punctuated.cli.main import app
from punctuated.spark.state.repair import find_repair

Folders = tuple[Path, Path]


def files(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(f"content of {name}")
    return folder


@pytest.fixture
def killed(tmp_path: Path) -> Folders:
    """A query that was killed between the commit of its sink and its own."""
    files(tmp_path / "checkpoint" / "offsets", *map(str, range(10)), ".9.crc")
    files(tmp_path / "checkpoint" / "commits", *map(str, range(9)), ".8.crc")
    files(tmp_path / "sink" / "_spark_metadata", *map(str, range(9)), "9.compact", ".9.compact.crc")
    return tmp_path / "checkpoint", tmp_path / "sink"


def seen(*folders: Path) -> dict[Path, str]:
    return {file: file.read_text() for folder in folders for file in folder.rglob("*") if file.is_file()}


def repair(folders: Folders, *options: str) -> str:
    done = CliRunner().invoke(app, ["repair", *map(str, folders), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_nothing_is_changed_before_it_is_asked_for(killed: Folders) -> None:
    before = seen(*killed)
    assert "batch 9" in (told := repair(killed)) and "--yes" in told
    assert json.loads(repair(killed, "--json")) == {
        "batch": 9,
        "kept_in": str(killed[1] / "_forgotten_batch_9"),
        "done": False,
    }
    assert seen(*killed) == before


def test_the_batch_is_forgotten_and_kept_aside(killed: Folders) -> None:
    log, kept = killed[1] / "_spark_metadata", killed[1] / "_forgotten_batch_9"
    told = repair(killed, "--yes")
    assert "batch 9" in told and kept.name in told
    assert {entry.name for entry in log.iterdir()} == {str(number) for number in range(9)}
    assert {entry.name: entry.read_text() for entry in kept.iterdir()} == {
        name: f"content of {name}" for name in ("9.compact", ".9.compact.crc")
    }
    assert "nothing to repair" in repair(killed, "--yes")
    shutil.copy(kept / "9.compact", log)  # killed again at the same place
    assert json.loads(repair(killed, "--yes", "--json"))["kept_in"].endswith("_forgotten_batch_9_2")


def test_the_first_batch_is_repaired_too(tmp_path: Path) -> None:
    files(tmp_path / "checkpoint" / "offsets", "0")
    files(tmp_path / "sink" / "_spark_metadata", "0")
    found = find_repair(tmp_path / "checkpoint", tmp_path / "sink")
    assert found is not None
    assert found.batch == 0


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        (["checkpoint/commits/7", "checkpoint/commits/8"], "has batch 7, 8, 9"),  # of a query that lags behind
        (["checkpoint/commits/*"], "has batch 0, 1, 2 … 9.*up to nothing"),  # of another query
        (["checkpoint/offsets/9"], "begun up to batch 8"),  # of another query that is not so far
        (["sink/_spark_metadata/4"], "lacks batch 4"),  # its log would have a hole
        (["checkpoint/offsets"], "not a checkpoint"),
        (["sink/_spark_metadata"], "not written by a file sink"),
    ],
)
def test_everything_else_is_refused(killed: Folders, tmp_path: Path, removed: list[str], message: str) -> None:
    for pattern in removed:
        for path in list(tmp_path.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    before = seen(tmp_path)
    with pytest.raises(pt.SnapshotError, match=message):
        find_repair(*killed)
    done = CliRunner().invoke(app, ["repair", *map(str, killed), "--yes"])
    assert done.exit_code == 2
    assert seen(tmp_path) == before


def test_a_compacted_log_needs_nothing_before_its_last_compaction(killed: Folders) -> None:
    log = killed[1] / "_spark_metadata"
    for number in range(8):
        (log / str(number)).unlink()
    (log / "8").rename(log / "8.compact")
    assert find_repair(*killed) is not None
