"""Files that the Python workers of a host share: chunks of state that any worker wrote, found by their token.

Spark gives a bucket to one worker now and to another one later. A worker that does not have the bucket in its memory
reads what others wrote here, which is far faster than the state store. The store remains the only truth: a chunk is
asked for by a token from the store, and a missing or damaged chunk is read from the store. So trouble with these files
is never an error.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from punctuated.storage.files import DamagedFile, ImmutableFiles, begins_as_ours, remove_file
from punctuated.storage.private_folder import do_without, private_folder

FOLDER_VARIABLE = "PUNCTUATED_CACHE_DIR"
T = TypeVar("T")
_LARGEST = 4 << 30  # bytes of all files together, or a share of what is free on their disk if that is more
_SHARE = 4
_NAME = re.compile(r"[\w-]+\.(chunk|\d+)")  # a chunk, or one that is being written by a process


class ChunkFiles:
    """The chunks in a folder, the oldest dropped when they exceed a size; without a folder there are none."""

    def __init__(self, folder: Path | None, largest: int = _LARGEST) -> None:
        self._files = None if folder is None else ImmutableFiles(folder, ".chunk")
        self._largest = largest
        self._unmeasured = largest  # bytes written since the folder was measured

    @property
    def are_here(self) -> bool:
        """Whether there is a folder for files."""
        return self._files is not None

    def read(self, token: str) -> bytes | None:
        """The chunk, if it is here and whole."""
        return None if self._files is None else self._if_whole(self._files, token, self._files.read)

    def map(self, token: str) -> pa.Buffer | None:
        """The chunk in mapped memory, if it is here and whole: once it is checked, only what is looked at is read."""
        return None if self._files is None else self._if_whole(self._files, token, self._files.map)

    @staticmethod
    def _if_whole(files: ImmutableFiles, token: str, read: Callable[[str], T]) -> T | None:
        try:
            return read(token)
        except OSError:
            return None
        except DamagedFile:
            files.remove(token)  # so that it is read only once
            return None

    def write(self, token: str, data: bytes | memoryview) -> None:
        """Write a chunk for other workers."""
        if self._files is None:
            return
        try:
            self._files.write(token, data)
        except OSError as trouble:
            do_without("Python workers cannot share state in files, and read it from the state store instead", trouble)
        self._unmeasured += len(data)
        if self._unmeasured > self._largest // 16:
            self._make_room(self._files.folder)

    def forget(self, tokens: list[str]) -> None:
        """Remove chunks that are no longer part of any state."""
        if self._files is None:
            return
        for token in tokens:
            self._files.remove(token)

    def _make_room(self, folder: Path) -> None:
        self._unmeasured = 0
        found = sorted(_our_files(folder))
        excess = sum(size for _, size, _ in found) - self._largest
        for _, size, path in found:
            if excess <= 0:
                return
            excess -= size
            remove_file(path)


@cache
def chunk_files() -> ChunkFiles:
    """The chunk files of this host."""
    folder = _own_folder()
    return ChunkFiles(folder, _cap(folder))


def _our_files(folder: Path) -> list[tuple[float, int, Path]]:
    """Time, size and path of each file that was written here; other workers may remove files meanwhile."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                seen = path.lstat()
                if _NAME.fullmatch(path.name) and stat.S_ISREG(seen.st_mode) and begins_as_ours(path):
                    found.append((seen.st_mtime, seen.st_size, path))
    return found


def _own_folder() -> Path | None:
    """A folder that only this user can write to, or none: its files become state."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen == "":
        return None
    try:
        root = Path(chosen) if chosen else Path(tempfile.gettempdir()) / f"punctuated-{os.geteuid()}"
        return private_folder(root / "chunks")
    except OSError as trouble:
        do_without("Python workers do not share state in files, and read it from the state store instead", trouble)
        return None


def _cap(folder: Path | None) -> int:
    """How many bytes the files may have together."""
    with suppress(OSError):
        return max(_LARGEST, shutil.disk_usage(folder).free // _SHARE) if folder is not None else _LARGEST
    return _LARGEST
