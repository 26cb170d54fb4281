"""Files shared by the workers of a host: lost, damaged or foreign ones change nothing."""

import errno
import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctuated.errors import CacheWarning
from punctuated.storage import private_folder
from punctuated.storage.chunk_files import FOLDER_VARIABLE, ChunkFiles, chunk_files
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


def test_only_files_that_were_written_here_are_dropped(tmp_path: Path) -> None:
    """By name and header, whatever else lies in a folder that the user has named."""
    foreign = [tmp_path / name for name in ("data.parquet", "x.chunk", "7.1234", "no_suffix")]
    for path in foreign:
        path.write_bytes(bytes(5_000))
    (tmp_path / "folder.chunk").mkdir()
    (tmp_path / "link.chunk").symlink_to(foreign[0])
    files = ChunkFiles(tmp_path, largest=1600)
    files.write("kept", bytes(100))
    (tmp_path / "left.99").write_bytes((tmp_path / "kept.chunk").read_bytes() * 20)  # by a process that was killed
    os.utime(tmp_path / "left.99", (0, 0))
    files.write("last", bytes(101))
    assert files.read("kept") is not None and files.read("last") is not None
    assert not (tmp_path / "left.99").exists()
    assert all(path.exists() for path in (*foreign, tmp_path / "folder.chunk", tmp_path / "link.chunk"))


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    files = ChunkFiles(tmp_path)
    files.write("t", b"what was kept")
    monkeypatch.setattr(private_folder, "_done_without", set())
    for name in ("os.open", "os.unlink", "os.rename", "os.replace"):
        monkeypatch.setattr(name, refuse)
    with pytest.warns(CacheWarning, match="Read-only file system") as said:
        files.write("u", b"another")
    files.write("v", b"a third")  # a second warning would be an error
    files.forget(["t"])
    assert len(said) == 1
    assert files.read("t") == b"what was kept" and files.read("u") is None


def test_chunks_are_for_the_user_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    ChunkFiles(tmp_path).write("t", b"rows of a customer")
    assert chunks(tmp_path)[0].stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("open_to_all", [".", "chunks"])
def test_a_folder_that_others_can_write_to_is_not_used(
    open_to_all: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chunks").mkdir()
    (tmp_path / open_to_all).chmod(0o777)
    monkeypatch.setattr(private_folder, "_done_without", set())
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    chunk_files.cache_clear()
    try:
        with pytest.warns(CacheWarning, match="do not share state in files.*by others"):
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


def test_a_chunk_is_mapped_as_long_as_it_is_whole(tmp_path: Path) -> None:
    """A file that has changed since it was looked at first is checked again."""
    files = ChunkFiles(tmp_path)
    files.write("t", b"what was kept")
    assert [bytes(files.map("t") or b""), bytes(files.map("t") or b"")] == [b"what was kept"] * 2
    damaged = chunks(tmp_path)[0].read_bytes()[:-1] + b"?"
    chunks(tmp_path)[0].write_bytes(damaged)
    assert files.map("t") is None and chunks(tmp_path) == []
    assert ChunkFiles(None).map("t") is None


def test_arrays_in_a_mapped_chunk_are_aligned(tmp_path: Path) -> None:
    files = ChunkFiles(tmp_path)
    files.write("t", bytes(64))
    mapped = files.map("t")
    assert mapped is not None and mapped.address % 64 == 0
