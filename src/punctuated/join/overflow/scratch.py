"""The scratch folder of a join: Arrow tables in files of its own, which only this user can write to."""

import hashlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

import pyarrow as pa

from punctuated.errors import ScratchError
from punctuated.join.exchange.bundle import from_ipc, to_ipc
from punctuated.private_folder import private_folder, write_private

FOLDER_VARIABLE = "PUNCTUATED_SCRATCH_DIR"
_DIGEST = 16  # bytes of the checksum, in front of the data


class Scratch:
    """Tables by name. The folder is made when the first one is written, and removed with this object."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def write(self, name: str, table: pa.Table) -> None:
        """Write a table aside, and put it in its place as a whole."""
        data = to_ipc(table)
        path = self._made_folder() / name
        try:
            aside = path.with_suffix(".new")
            write_private(aside, _digest(data) + data.to_pybytes())
            os.replace(aside, path)
        except OSError as error:
            raise ScratchError(
                f"cannot write {path}: {error.strerror}; make room there, or set {FOLDER_VARIABLE} to another folder"
            ) from error

    def read(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """The table of that name, or some columns of it."""
        path = self._made_folder() / name
        try:
            found = pa.py_buffer(path.read_bytes())
        except OSError as error:
            raise ScratchError(f"cannot read {path}: {error.strerror}; start the join again") from error
        data = found.slice(min(_DIGEST, found.size))
        if found.slice(0, _DIGEST).to_pybytes() != _digest(data):
            raise ScratchError(f"{path} was altered or cut off since it was written; start the join again")
        table = from_ipc(data)
        return table if columns is None else table.select(columns)

    def remove(self, name: str) -> None:
        """Forget a table."""
        (self._made_folder() / name).unlink(missing_ok=True)

    def _made_folder(self) -> Path:
        if self._folder is None:
            parent = os.environ.get(FOLDER_VARIABLE) or tempfile.gettempdir()
            try:
                self._folder = private_folder(Path(tempfile.mkdtemp(prefix="punctuated-", dir=parent)))
            except OSError as error:
                raise ScratchError(f"no scratch folder in {parent}: {error}; set {FOLDER_VARIABLE}") from error
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def _digest(data: pa.Buffer) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()
