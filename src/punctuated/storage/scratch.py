"""Tables on disk for as long as a join runs: what goes beyond its memory, in a folder that only this user can change.

Each process has a folder of its own and holds a lock beside it. A folder whose lock nobody holds belongs to a process
that was killed: the next process that comes removes it. A table that is not what was written is an error, because there
is no other copy of it.
"""

import errno
import fcntl
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from punctuated.errors import ScratchError
from punctuated.storage.files import DamagedFile, ImmutableFiles
from punctuated.storage.private_folder import private_folder

VARIABLE = "PUNCTUATED_SCRATCH_DIR"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_numbers = count()


class TableStore(Protocol):
    """Keeps tables by name; a table that was written is never changed.

    A durable store has its tables as of the last batch that was saved, for every process that goes on from there.
    """

    is_durable: bool
    table_bytes: int  # how large a table should be: large if reading a few rows costs no more than these rows

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a table under a new name."""

    def read(self, name: str) -> pa.Table:
        """The table of that name."""

    def remove(self, name: str) -> None:
        """Remove a table that is no longer needed."""


class Scratch:
    """The tables of one join in this process; they are removed with the join."""

    is_durable = False
    table_bytes = 1 << 23  # files are mapped

    def __init__(self) -> None:
        with _disk_trouble(scratch_root()):
            self.folder = _process_folder(os.getpid(), scratch_root()) / f"{next(_numbers)}"
            self.folder.mkdir(mode=0o700)
        self._files = ImmutableFiles(self.folder)
        self._remove_all = weakref.finalize(self, _remove_folder, self.folder, os.getpid())

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a table under a new name."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        with _disk_trouble(self.folder):
            self._files.write(name, sink.getvalue())

    def read(self, name: str) -> pa.Table:
        """The table of that name, in mapped memory: only what is looked at is read from the disk."""
        with _disk_trouble(self.folder):
            try:
                data = self._files.map(name)
            except DamagedFile:
                raise ScratchError(
                    f"{self._files.path(name)} is not what this join has written there: it was cut off or changed; see "
                    f"to it that nobody else writes to {self.folder} and that its disk is sound, and start the join "
                    "again"
                ) from None
        return pa.ipc.open_file(data).read_all()

    def remove(self, name: str) -> None:
        """Free the room of a table."""
        self._files.remove(name)


def scratch_root() -> Path:
    """The folder in which each process of this user has its own."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen or tempfile.gettempdir()).absolute() / f"punctuated-scratch-{os.geteuid()}"


@contextmanager
def _disk_trouble(folder: Path) -> Iterator[None]:
    """Raise trouble with the disk as an error that says what to do."""
    try:
        yield
    except ScratchError:
        raise
    except OSError as trouble:
        if trouble.errno in _FULL:
            raise ScratchError(
                f"the disk of {folder} is full: make room there, set {VARIABLE} to a folder on a larger disk, or give "
                "pt.join more memory="
            ) from trouble
        if isinstance(trouble, FileNotFoundError):
            raise ScratchError(
                f"{trouble.filename or folder} is gone: see to it that nobody clears {folder} while a join uses it, "
                "and start the join again"
            ) from trouble
        raise ScratchError(
            f"{folder} cannot be used: {trouble}; set {VARIABLE} to a folder that only this user can write to"
        ) from trouble


# The folder of a process


@cache
def _process_folder(pid: int, root: Path) -> Path:
    """A folder of this process, locked as long as it lives; folders of processes that are gone are removed first."""
    root = private_folder(root)
    for lock in root.glob("*.lock"):
        with suppress(OSError):
            _remove_if_abandoned(lock)
    folder = Path(tempfile.mkdtemp(prefix=f"{pid}-", dir=root))
    while not _lock_for_life(folder.with_suffix(".lock")):
        pass  # another process took it for an abandoned one, after it was made and before it was locked
    weakref.finalize(_Process.current, _remove_folder, folder, pid)
    return folder


class _Process:
    """An object that lives as long as the process."""

    current: "_Process"


_Process.current = _Process()


def _lock_for_life(lock: Path) -> bool:
    """Make a lock file and lock it for the life of the process; false if another process has removed it."""
    file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file).st_ino == os.stat(lock).st_ino  # the file stays open
    except OSError:
        os.close(file)
        return False


def _remove_if_abandoned(lock: Path) -> None:
    file = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
        lock.unlink()
    finally:
        os.close(file)


def _remove_folder(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # a forked child has the same objects, but the folder is not its own
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".lock").unlink(missing_ok=True)
