"""Where files and tables are: from a path as Spark writes it to a file system of pyarrow and a path in it.

Hadoop has names of its own for stores (`s3a://`, `file:/…`), and does not escape characters in a path. So a file system
is found by scheme and host alone, and the path behind them is taken as it is.
"""

import os
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from pyarrow import fs
from pyarrow.fs import FileSystem, LocalFileSystem

from punctuated.errors import SinkError

_URI = re.compile(r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<host>[^/]*))?(?P<path>.*)$", re.DOTALL)
_SCHEMES = {  # Hadoop's name of a scheme, and pyarrow's
    "s3": "s3",
    "s3a": "s3",
    "s3n": "s3",
    "gs": "gs",
    "gcs": "gs",
    "abfs": "abfs",
    "abfss": "abfss",
    "hdfs": "hdfs",
    "viewfs": "viewfs",
}
LOCAL = "file"
_ROOTED = ("hdfs", "viewfs")  # paths in these begin at a root; in stores of objects they begin with the bucket
_RENAMES = {"local", "hdfs"}  # elsewhere a folder is renamed file by file, if at all


class HadoopPath(NamedTuple):
    """A Hadoop path in its parts; `scheme` is pyarrow's."""

    scheme: str
    host: str
    path: str

    @property
    def in_store(self) -> str:
        """The path in a file system of this scheme."""
        if self.scheme == LOCAL or self.scheme in _ROOTED:
            return self.path
        bucket = self.host.partition("@")[0]  # of Azure, the container in front of the account
        return f"{bucket}{self.path}"


def parse_path(path: str) -> HadoopPath:
    """The parts of a path as Hadoop writes it; raises `ValueError` if pyarrow does not know such files.

    >>> parse_path("s3a://bucket/a b/c.parquet").in_store
    'bucket/a b/c.parquet'
    >>> parse_path("file:/tmp/50%.parquet").in_store
    '/tmp/50%.parquet'
    """
    scheme, host, inside = split_path(path)
    if scheme != LOCAL and scheme not in _SCHEMES:
        raise ValueError(f"pyarrow knows {LOCAL}, {', '.join(_SCHEMES)}, and no {scheme}")
    return HadoopPath(_SCHEMES.get(scheme, LOCAL), host, inside)


def split_path(path: str) -> tuple[str, str, str]:
    """Scheme, host and path, as they are written; a path without a scheme counts as local.

    >>> split_path("S3://bucket/a b"), split_path("/tmp/x")
    (('s3', 'bucket', '/a b'), ('file', '', '/tmp/x'))
    """
    found = _URI.match(path)
    return (LOCAL, "", path) if found is None else (found["scheme"].lower(), found["host"] or "", found["path"])


def has_scheme(path: str) -> bool:
    """Whether a path names its file system."""
    return _URI.match(path) is not None


def locate(path: str, known: FileSystem | None = None) -> tuple[FileSystem, str]:
    """The file system of a path, unless it is known, and the path in it."""
    parts = parse_path(path)
    return (file_system(parts.scheme, parts.host) if known is None else known), parts.in_store


@lru_cache(maxsize=64)
def file_system(scheme: str, host: str) -> FileSystem:
    """A file system; made once in a process, because some need the network for it."""
    if scheme == LOCAL:
        return LocalFileSystem()
    return FileSystem.from_uri(f"{scheme}://{host}/")[0]


# The location of a table


@dataclass(frozen=True)
class TableLocation:
    """The folder of a table; plain data, so that it travels to the workers and is opened there."""

    path: str

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        return _open(self.path)

    @property
    def files(self) -> Any:
        """The file system of the folder."""
        return self._opened[0]

    @property
    def root(self) -> str:
        """The path of the folder in its file system."""
        return self._opened[1]

    @property
    def renames(self) -> bool:
        """Whether a whole folder becomes visible at once when it is renamed."""
        return self.files.type_name in _RENAMES

    @property
    def is_local(self) -> bool:
        """Whether the folder is on this host, or looks as if it were."""
        return str(self.files.type_name) == "local"

    def to(self, *names: str) -> str:
        """The path of an entry of the folder."""
        return "/".join([self.root, *names])

    def entries(self, *names: str) -> list[Any]:
        """The entries of a folder; none if it does not exist."""
        found = self.files.get_file_info(fs.FileSelector(self.to(*names), allow_not_found=True))
        return list(found)

    def exists(self, *names: str) -> bool:
        """Whether the folder has an entry of this name."""
        return bool(self.files.get_file_info(self.to(*names)).type != fs.FileType.NotFound)

    def touch(self, *names: str) -> None:
        """Make an empty file."""
        with self.files.open_output_stream(self.to(*names)):
            pass


def _open(path: str) -> tuple[Any, str]:
    try:
        files, root = locate(path)
    except (ValueError, OSError, NotImplementedError) as trouble:
        raise SinkError(f"{path} cannot be opened by pyarrow: {trouble}") from trouble
    return files, os.path.abspath(root) if isinstance(files, fs.LocalFileSystem) else root.rstrip("/")
