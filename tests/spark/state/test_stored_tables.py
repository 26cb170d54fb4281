"""Tables of a bucket: from files of the host if those are whole, else from the state store, which is the truth."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from punctuated.spark.state.store import StoredTables
from punctuated.storage.chunk_files import ChunkFiles

TABLE = pa.table({"k": range(1000), "t": [f"text {n}" for n in range(1000)]})


class Stored(dict[tuple[str], tuple[Any]]):
    """A map of the state store that counts what it is asked for."""

    def __init__(self) -> None:
        self.asked = list[str]()

    def getValue(self, key: tuple[str]) -> tuple[Any] | None:  # noqa: N802
        self.asked.append(key[0])
        return self.get(key)

    def updateValue(self, key: tuple[str], value: tuple[Any]) -> None:  # noqa: N802
        self[key] = value

    def removeKey(self, key: tuple[str]) -> None:  # noqa: N802
        self.pop(key, None)


def written(folder: Path) -> tuple[Stored, dict[str, str]]:
    stored = Stored()
    tables = StoredTables(stored, ChunkFiles(folder))
    tables.write("a", TABLE)
    tables.write("b", TABLE.slice(5))
    return stored, tables.files


def again(stored: Stored, files: dict[str, str], folder: Path | None) -> StoredTables:
    """In another worker."""
    tables = StoredTables(stored, ChunkFiles(folder))
    tables.files = dict(files)
    return tables


def test_another_worker_reads_files(tmp_path: Path) -> None:
    stored, files = written(tmp_path)
    tables = again(stored, files, tmp_path)
    assert tables.read("a") == TABLE and tables.read("b") == TABLE.slice(5)
    assert stored.asked == []


@pytest.mark.parametrize("content", [None, b"", b"short", b"changed"])
def test_a_file_that_is_not_whole_is_written_again_from_the_store(tmp_path: Path, content: bytes | None) -> None:
    stored, files = written(tmp_path)
    tables = again(stored, files, tmp_path)
    assert tables.read("a") == TABLE
    for path in tmp_path.iterdir():
        before = path.read_bytes()
        path.unlink()
        if content is not None:
            path.write_bytes(before[:-9] + b"?" + before[-8:] if content == b"changed" else content)
    assert [tables.read("a"), tables.read("a")] == [TABLE, TABLE]
    assert stored.asked == ["a"]


def test_without_files_the_store_is_asked(tmp_path: Path) -> None:
    stored, files = written(tmp_path)
    tables = again(stored, files, None)
    assert tables.read("b") == TABLE.slice(5)
    assert tables.table_bytes < again(stored, files, tmp_path).table_bytes


def test_what_is_removed_leaves_no_file(tmp_path: Path) -> None:
    stored, files = written(tmp_path)
    tables = again(stored, files, tmp_path)
    for name in "ab":
        tables.remove(name)
    assert list(tmp_path.iterdir()) == [] and tables.files == {}
    with pytest.raises(RuntimeError, match="the checkpoint is damaged"):
        again(stored, files, tmp_path).read("a")


def test_an_attempt_that_fails_changes_no_file_of_others(tmp_path: Path) -> None:
    """Files have names of their own: the next attempt writes other ones under the same names of tables."""
    stored, files = written(tmp_path)
    again(Stored(), files, tmp_path).write("c", TABLE)
    tables = again(stored, files, tmp_path)
    tables.write("c", TABLE.slice(7))
    assert again(stored, tables.files, tmp_path).read("c") == TABLE.slice(7)
