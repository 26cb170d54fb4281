"""Files shared by the workers of a host: lost, damaged or foreign ones change nothing."""

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctuated.spark.chunk_files import FOLDER_VARIABLE, ChunkFiles, chunk_files
from punctuated.testing.checks import check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Output, Steps, clear_cache, is_spreadable, pack_batch
from spark.test_step import run_steps

FEWER = settings(max_examples=settings().max_examples // 4)


def chunks(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.chunk"))


def test_a_chunk_comes_back(tmp_path: Path) -> None:
    ChunkFiles(tmp_path).write("t", b"what was kept")
    assert ChunkFiles(tmp_path).read("t") == b"what was kept"
    assert ChunkFiles(tmp_path).read("another") is None


@pytest.mark.parametrize("damage", [b"", b"short", bytes(100)])
def test_a_damaged_chunk_is_not_used(tmp_path: Path, damage: bytes) -> None:
    files = ChunkFiles(tmp_path)
    files.write("t", b"what was kept")
    chunks(tmp_path)[0].write_bytes(damage)
    assert files.read("t") is None
    assert chunks(tmp_path) == []  # and it is read once only


def test_the_oldest_go_first(tmp_path: Path) -> None:
    files = ChunkFiles(tmp_path, largest=1600)
    for number in range(20):
        files.write(str(number), bytes(100))
        os.utime(tmp_path / f"{number}.chunk", (number, number))
    assert files.read("19") is not None
    assert files.read("0") is None
    assert sum(path.stat().st_size for path in chunks(tmp_path)) <= 1600 + 200


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    files = ChunkFiles(tmp_path / "nowhere")
    files.write("t", b"what was kept")
    files.forget(["t"])
    assert files.read("t") is None


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chunks").mkdir()
    (tmp_path / "chunks").chmod(0o777)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    chunk_files.cache_clear()
    try:
        chunk_files().write("t", b"what was kept")
        assert chunks(tmp_path / "chunks") == []
    finally:
        chunk_files.cache_clear()


def spoil(path: Path, random: Random) -> None:
    """What can happen to a file between two steps."""
    data = bytearray(path.read_bytes())
    what = random.choice(["lost", "cut", "changed", "nothing"])
    if what == "lost":
        path.unlink()
    elif what == "cut":
        path.write_bytes(data[: random.randrange(len(data))])
    elif what == "changed":
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(data)


@FEWER
@given(cases().filter(is_spreadable), st.integers(1, 5), st.integers(0, 1 << 30).map(Random))
def test_steps_over_spoilt_files_equal_the_oracle(case: Case, n: int, random: Random) -> None:
    folder = Path(os.environ[FOLDER_VARIABLE]) / "chunks"

    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        clear_cache()
        for path in chunks(folder):
            spoil(path, random)
        return steps.run(pack_batch(steps.query, batch, random))

    check_equals_oracle(lambda spec, batches: run_steps(spec, batches, n, random, run), case.spec, case.batches)
    for path in chunks(folder):
        path.unlink()
