"""Files that the Python workers of a host share: chunks of state that any of them wrote, found by their token.

Spark hands a bucket now to this worker and now to that one. A worker that does not have the bucket in its memory reads
what others wrote here, which is far faster than the state store. The store remains the only truth: a chunk is asked for
by a token that came from there, and one that is missing or damaged is read from there.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_LARGEST = 4 << 30  # bytes of all files together
_DIGEST = 16
FOLDER_VARIABLE = "PUNCTUATED_CACHE_DIR"


class ChunkFiles:
    """Immutable files, written aside and renamed, checked when read, the oldest dropped first."""

    def __init__(self, folder: Path | None, largest: int = _LARGEST) -> None:
        self._folder, self._largest = folder, largest
        self._unlooked = largest  # bytes written since the folder was measured

    def read(self, token: str) -> bytes | None:
        """The chunk, if it is here and whole."""
        if self._folder is None:
            return None
        try:
            data = self._path(token).read_bytes()
        except OSError:
            return None
        if _digest(data[_DIGEST:]) == data[:_DIGEST]:
            return data[_DIGEST:]
        self.forget([token])
        return None

    def write(self, token: str, data: bytes) -> None:
        """Leave a chunk for others; a full disk is no error, since nobody depends on it."""
        if self._folder is None:
            return
        aside = self._path(token).with_suffix(f".{os.getpid()}")
        try:
            aside.write_bytes(_digest(data) + data)
            aside.replace(self._path(token))
        except OSError:
            aside.unlink(missing_ok=True)
        self._unlooked += len(data)
        if self._unlooked > self._largest // 16:
            self._make_room()

    def forget(self, tokens: list[str]) -> None:
        """These chunks are part of no state any more."""
        for token in tokens if self._folder is not None else []:
            self._path(token).unlink(missing_ok=True)

    def _path(self, token: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{token}.chunk"

    def _make_room(self) -> None:
        self._unlooked = 0
        found = sorted(_sizes(self._folder)) if self._folder is not None else []
        excess = sum(size for _, size, _ in found) - self._largest
        for _, size, path in found:
            if excess <= 0:
                return
            excess -= size
            path.unlink(missing_ok=True)


def _sizes(folder: Path) -> list[tuple[float, int, Path]]:
    """Time, size and path of each file; others may take files away meanwhile."""
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):
                seen = path.stat()
                found.append((seen.st_mtime, seen.st_size, path))
    return found


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def _private_folder() -> Path | None:
    """A folder that only this user can write to, or none: what lies there becomes state."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen == "":
        return None
    folder = Path(chosen or Path(tempfile.gettempdir()) / f"punctuated-{os.getuid()}") / "chunks"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = folder.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid() and not seen.st_mode & 0o022
    return folder if is_ours else None


@cache
def chunk_files() -> ChunkFiles:
    """Those of this host."""
    return ChunkFiles(_private_folder())
