"""Where a table lies, as `pyarrow.fs` sees it: its file system, its folder, and whether it can rename folders."""

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyarrow import fs

from punctuated.errors import SinkError
from punctuated.storage.tables.file_systems import locate

_RENAMES = {"local", "hdfs"}  # elsewhere a folder is renamed file by file, if at all


@dataclass(frozen=True)
class Place:
    """A folder; plain data, so that it travels to the workers and is opened there."""

    path: str

    @cached_property
    def _found(self) -> tuple[Any, str]:
        return _open(self.path)

    @property
    def files(self) -> Any:
        """The file system."""
        return self._found[0]

    @property
    def root(self) -> str:
        """The folder in it."""
        return self._found[1]

    @property
    def renames(self) -> bool:
        """Whether a whole folder becomes visible at once when it is renamed."""
        return self.files.type_name in _RENAMES

    @property
    def is_local(self) -> bool:
        """Whether it lies on this host, or looks as if it did."""
        return str(self.files.type_name) == "local"

    def to(self, *names: str) -> str:
        """The path of something in the folder."""
        return "/".join([self.root, *names])

    def entries(self, *names: str) -> list[Any]:
        """What lies in a folder, which need not be there."""
        found = self.files.get_file_info(fs.FileSelector(self.to(*names), allow_not_found=True))
        return list(found)

    def exists(self, *names: str) -> bool:
        """Whether there is something of this name."""
        return bool(self.files.get_file_info(self.to(*names)).type != fs.FileType.NotFound)

    def touch(self, *names: str) -> None:
        """An empty file."""
        with self.files.open_output_stream(self.to(*names)):
            pass


def _open(path: str) -> tuple[Any, str]:
    try:
        files, root = locate(path)
    except (ValueError, OSError, NotImplementedError) as trouble:
        raise SinkError(f"{path} cannot be opened by pyarrow: {trouble}") from trouble
    return files, os.path.abspath(root) if isinstance(files, fs.LocalFileSystem) else root.rstrip("/")
