"""A file sink forgets what its query has not committed, and nothing else."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import punctuated as pt
from punctuated.cli import app
from punctuated.spark.repair import forget_uncommitted


def files(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return folder


@pytest.fixture
def killed(tmp_path: Path) -> tuple[Path, Path]:
    """A query that was killed between the commit of its sink and its own."""
    files(tmp_path / "checkpoint" / "offsets", *map(str, range(10)))
    files(tmp_path / "checkpoint" / "commits", *map(str, range(9)), ".8.crc")
    files(tmp_path / "sink" / "_spark_metadata", *map(str, range(9)), "9.compact", ".9.compact.crc")
    return tmp_path / "checkpoint", tmp_path / "sink"


def test_the_batch_is_forgotten(killed: tuple[Path, Path]) -> None:
    checkpoint, sink = killed
    assert forget_uncommitted(checkpoint, sink) == [9]
    assert {entry.name for entry in (sink / "_spark_metadata").iterdir()} == {str(number) for number in range(9)}
    assert forget_uncommitted(checkpoint, sink) == []


def test_a_query_without_any_commit_is_repaired(killed: tuple[Path, Path]) -> None:
    checkpoint, sink = killed
    (checkpoint / "commits").rename(checkpoint / "gone")
    assert forget_uncommitted(checkpoint, sink) == list(range(10))


def test_the_command_says_what_it_did(killed: tuple[Path, Path]) -> None:
    done = CliRunner().invoke(app, ["repair", *map(str, killed)])
    assert (done.exit_code, "batch 9" in done.output) == (0, True)
    again = CliRunner().invoke(app, ["repair", *map(str, killed)])
    assert "nothing" in again.output


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(pt.SnapshotError, match="no checkpoint"):
        forget_uncommitted(tmp_path, tmp_path)
    files(tmp_path / "offsets")
    with pytest.raises(pt.SnapshotError, match="no file sink"):
        forget_uncommitted(tmp_path, tmp_path)
