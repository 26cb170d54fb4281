"""Tables on disk for as long as a join runs: Arrow files with a checksum, in a folder that only this user can change.

Each process has a folder of its own and holds a lock beside it. A folder whose lock nobody holds is of a process that
was killed: whoever comes next removes it. What is read must be what was written, or it is an error; the checksum is
looked at when a file is read first, and again if the file system says that it is another one or has changed.
"""

import errno
import fcntl
import os
import shutil
import struct
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from punctuated.errors import ScratchError
from punctuated.storage.private_folder import private_folder

VARIABLE = "PUNCTUATED_SCRATCH_DIR"
_FOOTER = struct.Struct("<QI")  # how many bytes come before it, and their checksum with that of the name
_FULL = (errno.ENOSPC, errno.EDQUOT)
_numbers = count()


class TableStore(Protocol):
    """Keeps tables by name; one that was written is never changed.

    One that is durable has them as of the last batch that was saved, whoever goes on from there.
    """

    is_durable: bool
    table_bytes: int  # how large a table should be: large if a look at a few rows costs no more than they are

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a table under a new name."""

    def read(self, name: str) -> pa.Table:
        """The table of that name."""

    def remove(self, name: str) -> None:
        """Nobody asks for it any more."""


class Scratch:
    """The tables of one join in this process; they go with it."""

    is_durable = False
    table_bytes = 1 << 23  # files are mapped

    def __init__(self) -> None:
        with _told(scratch_root()):
            self.folder = _process_folder(os.getpid(), scratch_root()) / f"{next(_numbers)}"
            self.folder.mkdir(mode=0o700)
        self._checked: dict[str, tuple[int, ...]] = {}  # which version of a file was found to be sound
        self._remove_all = weakref.finalize(self, _remove_folder, self.folder, os.getpid())

    def write(self, name: str, table: pa.Table) -> None:
        """Written aside and renamed: there is a whole file or none."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        data, aside = sink.getvalue(), self.folder / f"{name}.new"
        with _told(self.folder):
            try:
                with aside.open("wb") as file:
                    file.write(data)
                    file.write(_FOOTER.pack(data.size, _checksum(name, data)))
                aside.replace(self.folder / name)
            except OSError:
                aside.unlink(missing_ok=True)  # what is there of it takes room
                raise

    def read(self, name: str) -> pa.Table:
        """What was written under this name; what is not looked at is not read."""
        path = self.folder / name
        with _told(self.folder):
            seen = path.stat()
            content = pa.memory_map(str(path)).read_buffer() if seen.st_size else pa.py_buffer(b"")
        version = seen.st_ino, seen.st_size, seen.st_mtime_ns
        data, footer = content[: -_FOOTER.size], content[-_FOOTER.size :]
        if self._checked.get(name) != (*version, content.size):
            if content.size < _FOOTER.size or _FOOTER.unpack(footer) != (data.size, _checksum(name, data)):
                raise ScratchError(
                    f"{path} is not what this join has written there: it was cut off or changed; see to it that nobody "
                    f"else writes to {self.folder} and that its disk is sound, and start the join again"
                )
            self._checked[name] = *version, content.size
        return pa.ipc.open_file(data).read_all()

    def remove(self, name: str) -> None:
        """Its room is free again."""
        self._checked.pop(name, None)
        with suppress(OSError):  # it goes with the folder
            (self.folder / name).unlink()


def scratch_root() -> Path:
    """Under which folder the processes of this user have theirs."""
    given = os.environ.get(VARIABLE)
    return Path(given or tempfile.gettempdir()).absolute() / f"punctuated-scratch-{os.geteuid()}"


def _checksum(name: str, data: pa.Buffer) -> int:
    return zlib.crc32(data, zlib.crc32(name.encode()))


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """Trouble with the disk, in words that say what to do."""
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
    """A folder of this process, locked as long as it lives; those of processes that are gone are removed first."""
    root = private_folder(root)
    for lock in root.glob("*.lock"):
        with suppress(OSError):
            _remove_if_left(lock)
    folder = Path(tempfile.mkdtemp(prefix=f"{pid}-", dir=root))
    while not _hold(folder.with_suffix(".lock")):
        pass  # it was taken for one that was left, between the making and the locking of it
    weakref.finalize(_Process.current, _remove_folder, folder, pid)
    return folder


class _Process:
    """Ends with the process."""

    current: "_Process"


_Process.current = _Process()


def _hold(lock: Path) -> bool:
    """Make a lock file and lock it for the life of the process; false if somebody was faster and removed it."""
    file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file).st_ino == os.stat(lock).st_ino  # the file stays open
    except OSError:
        os.close(file)
        return False


def _remove_if_left(lock: Path) -> None:
    file = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
        lock.unlink()
    finally:
        os.close(file)


def _remove_folder(folder: Path, pid: int) -> None:
    if os.getpid() == pid:  # a child that was forked has the same objects, but not the folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.with_suffix(".lock").unlink(missing_ok=True)
