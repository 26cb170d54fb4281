"""Files in one folder: whole or not there, and only under the name that they were written with."""

from collections.abc import Callable
from pathlib import Path

import pytest

from punctuated.storage.files import DamagedFile, ImmutableFiles


@pytest.mark.parametrize("suffix", ["", ".chunk"])
def test_what_is_read_or_mapped_was_written(tmp_path: Path, suffix: str) -> None:
    files = ImmutableFiles(tmp_path, suffix)
    for name, data in {"one": b"what was kept", "none": b""}.items():
        files.write(name, data)
        assert files.read(name) == data == files.map(name).to_pybytes() == files.map(name).to_pybytes()
    files.remove("one")
    files.remove("one")
    assert [path.name for path in tmp_path.iterdir()] == [f"none{suffix}"]
    with pytest.raises(FileNotFoundError):
        files.read("one")


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: data[1:], lambda data: data + b"x", lambda _: b""]
)
def test_a_file_that_changed_is_damaged_even_if_it_was_whole_before(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    files = ImmutableFiles(tmp_path)
    files.write("one", b"what was kept")
    files.map("one")
    files.path("one").write_bytes(change(files.path("one").read_bytes()))
    for read in (files.read, files.map):
        with pytest.raises(DamagedFile):
            read("one")


def test_a_file_under_another_name_is_damaged(tmp_path: Path) -> None:
    files = ImmutableFiles(tmp_path)
    files.write("one", b"what was kept")
    files.path("one").rename(files.path("two"))
    with pytest.raises(DamagedFile):
        files.map("two")


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    files = ImmutableFiles(tmp_path)
    (tmp_path / "one").mkdir()  # nothing can be renamed to it
    with pytest.raises(OSError, match="one"):
        files.write("one", b"what was kept")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
