"""Immutable files in one folder: written aside and renamed, with a checksum that is compared when they are read.

A file that has a name was written whole, and it holds what was written under this name. The checksum covers the name
as well, so a file that was renamed is damaged. A mapped file is checked once, and again if the file system shows
another inode, size or time of change.

    64 bytes: what kind of file it is, n bytes of content, crc32 of name and content | content
"""

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from punctuated.storage.private_folder import write_private

_SUM = struct.Struct("<QQ")  # the number of bytes, and the checksum of name and bytes
_MAGIC = b"punctuated chunk "  # begins a file of any version
_HEADER = (_MAGIC + b"3\n").ljust(64 - _SUM.size)  # 64 bytes with the checksum, so that mapped arrays are aligned
_CONTENT = len(_HEADER) + _SUM.size
_MOST_CHECKED = 1 << 16  # files that are known to be whole


class DamagedFile(Exception):
    """The file does not hold what was written under its name."""


class ImmutableFiles:
    """The files of one folder; `suffix` ends the name of every finished file."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        self.folder, self._suffix = folder, suffix
        self._checked: dict[str, tuple[int, ...]] = {}  # by name, the version of the file that was found to be whole

    def path(self, name: str) -> Path:
        """The path of a finished file."""
        return self.folder / f"{name}{self._suffix}"

    def write(self, name: str, data: bytes | memoryview | pa.Buffer) -> None:
        """Write a file that appears whole or not at all; raises OSError and leaves nothing behind."""
        aside = self.folder / f"{name}.{os.getpid()}"
        try:
            write_private(aside, _HEADER, _checksum(name, data), memoryview(data))
            aside.replace(self.path(name))
        except OSError:
            remove_file(aside)  # an unfinished file takes room
            raise

    def read(self, name: str) -> bytes:
        """The content of a file, checked; raises OSError or DamagedFile."""
        content = self.path(name).read_bytes()
        _check(name, content)
        return content[_CONTENT:]

    def map(self, name: str) -> pa.Buffer:
        """The content of a file in mapped memory, checked at first use; raises OSError or DamagedFile."""
        path = self.path(name)
        seen = path.stat()
        content = pa.memory_map(str(path)).read_buffer() if seen.st_size else pa.py_buffer(b"")
        version = seen.st_ino, seen.st_size, seen.st_mtime_ns, content.size
        if self._checked.get(name) != version:
            _check(name, content)
            self._checked[name] = version
            if len(self._checked) > _MOST_CHECKED:
                self._checked.pop(next(iter(self._checked)))
        return content[_CONTENT:]

    def remove(self, name: str) -> None:
        """Remove a file, as far as that works."""
        self._checked.pop(name, None)
        remove_file(self.path(name))


def remove_file(path: Path) -> None:
    """Remove a file, as far as that works."""
    with suppress(OSError):
        path.unlink()


def begins_as_ours(path: Path) -> bool:
    """Whether a file was begun by this module, in any version; its writer may not have finished the header."""
    with path.open("rb") as file:
        begin = file.read(len(_MAGIC))
    return begin != b"" and _MAGIC.startswith(begin)


def _check(name: str, content: bytes | pa.Buffer) -> None:
    whole = memoryview(content)
    if bytes(whole[:_CONTENT]) != _HEADER + _checksum(name, whole[_CONTENT:]):
        raise DamagedFile(name)


def _checksum(name: str, data: bytes | memoryview | pa.Buffer) -> bytes:
    return _SUM.pack(len(data), zlib.crc32(data, zlib.crc32(name.encode())))
