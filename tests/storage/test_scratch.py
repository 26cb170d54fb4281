"""Tables on disk: what is read is what was written, or it is an error; nothing is left behind."""

import errno
import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from punctuated.errors import ScratchError
from punctuated.storage import scratch
from punctuated.storage.scratch import VARIABLE, Scratch

TABLE = pa.table({"k": [1, 2, 3], "v": ["a", None, "c"]})


@pytest.fixture(autouse=True)
def own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def test_what_is_read_was_written() -> None:
    store = Scratch()
    store.write("one", TABLE)
    assert store.read("one").equals(TABLE)
    store.remove("one")
    with pytest.raises(ScratchError, match="one is gone: see to it that nobody clears"):
        store.read("one")


def altered(data: bytes) -> bytes:
    return data[:200] + bytes([data[200] ^ 1]) + data[201:]


@pytest.mark.parametrize("change", [lambda data: data[:-20], lambda data: b"", altered, lambda data: data + b"x"])
def test_a_file_that_was_changed_is_an_error(change: Any) -> None:
    store = Scratch()
    store.write("one", TABLE)
    path = store.folder / "one"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ScratchError, match="is not what this join has written there"):
        store.read("one")


def test_a_file_of_another_name_is_an_error() -> None:
    store = Scratch()
    store.write("one", TABLE)
    (store.folder / "one").rename(store.folder / "two")
    with pytest.raises(ScratchError, match="is not what this join has written there"):
        store.read("two")


def test_a_full_disk_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Scratch()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(ScratchError, match=rf"is full: make room there, set {VARIABLE}"):
        store.write("one", TABLE)
    assert list(store.folder.iterdir()) == []


def test_a_folder_that_others_can_change_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv(VARIABLE, str(shared))
    with pytest.raises(ScratchError, match="can be written by others"):
        Scratch()


def test_folders_go_with_the_join() -> None:
    store = Scratch()
    folder = store.folder
    store.write("one", TABLE)
    del store
    gc.collect()
    assert not folder.exists()


KILLED = """
import os, sys, pyarrow as pa
from punctuated.storage.scratch import Scratch
store = Scratch()
store.write("one", pa.table({"k": [1]}))
print(store.folder)
sys.stdout.flush()
if sys.argv[1] == "killed":
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("how", ["ended", "killed"])
def test_what_a_process_leaves_is_removed_by_the_next_one(how: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, how], env=os.environ, capture_output=True, text=True)
    folder = Path(done.stdout.strip())
    assert folder.exists() == (how == "killed"), done.stderr
    ours = Scratch()
    scratch._process_folder.cache_clear()  # as if this were another process
    theirs = Scratch()
    assert not folder.parent.exists()
    assert ours.folder.exists()
    assert theirs.folder.exists()
