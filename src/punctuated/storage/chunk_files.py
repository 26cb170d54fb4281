"""Files that the Python workers of a host share: chunks of state that any of them wrote, found by their token.

Spark gives a bucket to one worker now and to another one later. A worker that does not have the bucket in its memory
reads what others wrote here, which is far faster than the state store. The store remains the only truth: a chunk is
asked for by a token from the store, and a missing or damaged chunk is read from the store.

Chunks are written aside and renamed, so one that was found whole stays whole, unless the file system says that it is
another file or has changed.
"""

import os
import re
import shutil
import stat
import struct
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

import pyarrow as pa

from punctuated.storage.private_folder import do_without, private_folder, write_private

_LARGEST = 4 << 30  # bytes of all files together, or a part of what is free on their disk if that is more
_SHARE = 4
_SUM = struct.Struct("<QQ")  # how many bytes there are, and their checksum
_OURS = b"punctuated chunk "  # of any version
_HEADER = (_OURS + b"2\n").ljust(64 - _SUM.size)  # what is mapped is aligned
_BEGIN = len(_HEADER) + _SUM.size
_CHECKED = 1 << 16  # so many files a process knows to be whole
_NAME = re.compile(r"[\w-]+\.(chunk|\d+)")  # a chunk, or one that is being written by a process
FOLDER_VARIABLE = "PUNCTUATED_CACHE_DIR"


class ChunkFiles:
    """Immutable files, written aside and renamed, checked when read, the oldest dropped first.

    No trouble with files is an error, since nobody depends on them.
    """

    def __init__(self, folder: Path | None, largest: int = _LARGEST) -> None:
        self._folder, self._largest = folder, largest
        self._unlooked = largest  # bytes written since the folder was measured
        self._checked: dict[str, tuple[int, ...]] = {}  # which version of a file that is mapped was found to be whole

    def read(self, token: str) -> bytes | None:
        """The chunk, if it is here and whole."""
        if self._folder is None:
            return None
        try:
            content = self._path(token).read_bytes()
        except OSError:
            return None
        if (data := _unpacked(content)) is None:
            self.forget([token])
        return data

    @property
    def are_here(self) -> bool:
        """Whether there is a folder for files."""
        return self._folder is not None

    def map(self, token: str) -> pa.Buffer | None:
        """The chunk, if it is here and whole; what is not looked at is not read, but for the first time."""
        if self._folder is None:
            return None
        path = self._path(token)
        try:
            seen = path.stat()
            content = pa.memory_map(str(path)).read_buffer() if seen.st_size else pa.py_buffer(b"")
        except OSError:
            return None
        version = seen.st_ino, seen.st_size, seen.st_mtime_ns, content.size
        if self._checked.get(token) != version:
            if not _is_whole(memoryview(content)):
                self.forget([token])
                return None
            self._know(token, version)
        return content[_BEGIN:]

    def _know(self, token: str, version: tuple[int, ...]) -> None:
        self._checked[token] = version
        if len(self._checked) > _CHECKED:
            self._checked.pop(next(iter(self._checked)))

    def write(self, token: str, data: bytes | memoryview) -> None:
        """Write a chunk for others."""
        if self._folder is None:
            return
        aside = self._path(token).with_suffix(f".{os.getpid()}")
        try:
            write_private(aside, _HEADER, _sum(data), data)
            aside.replace(self._path(token))
        except OSError as trouble:
            do_without("Python workers cannot share state in files, and read it from the state store instead", trouble)
            _remove(aside)
        self._unlooked += len(data)
        if self._unlooked > self._largest // 16:
            self._make_room()

    def forget(self, tokens: list[str]) -> None:
        """Remove chunks that are no longer part of any state."""
        for token in tokens if self._folder is not None else []:
            self._checked.pop(token, None)
            _remove(self._path(token))

    def _path(self, token: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{token}.chunk"

    def _make_room(self) -> None:
        self._unlooked = 0
        found = sorted(_ours(self._folder)) if self._folder is not None else []
        excess = sum(size for _, size, _ in found) - self._largest
        for _, size, path in found:
            if excess <= 0:
                return
            excess -= size
            _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _ours(folder: Path) -> list[tuple[float, int, Path]]:
    """Time, size and path of each file that was written here; others may remove files meanwhile."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                seen = path.lstat()
                if _NAME.fullmatch(path.name) and stat.S_ISREG(seen.st_mode) and _begins_as_ours(path):
                    found.append((seen.st_mtime, seen.st_size, path))
    return found


def _begins_as_ours(path: Path) -> bool:
    """A chunk that its writer did not finish may lack a part of the header."""
    with path.open("rb") as file:
        begin = file.read(len(_OURS))
    return begin != b"" and _OURS.startswith(begin)


def _unpacked(content: bytes) -> bytes | None:
    return content[_BEGIN:] if _is_whole(content) else None


def _is_whole(content: bytes | memoryview) -> bool:
    begin, data = bytes(content[:_BEGIN]), memoryview(content)[_BEGIN:]
    return begin == _HEADER + _sum(data)


def _sum(data: bytes | memoryview) -> bytes:
    return _SUM.pack(len(data), zlib.crc32(data))


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


@cache
def chunk_files() -> ChunkFiles:
    """Those of this host."""
    folder = _own_folder()
    return ChunkFiles(folder, _room(folder))


def _room(folder: Path | None) -> int:
    with suppress(OSError):
        return max(_LARGEST, shutil.disk_usage(folder).free // _SHARE) if folder is not None else _LARGEST
    return _LARGEST
