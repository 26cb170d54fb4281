"""Where a file is that Spark names, in the terms of pyarrow: a file system, and a path in it.

Hadoop has names of its own for stores (`s3a://`, `file:/…`), and does not escape what is in a path. So file systems are
asked for by scheme and host alone, and the path behind them is taken as it is.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from pyarrow.fs import FileSystem, LocalFileSystem

_URI = re.compile(r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<host>[^/]*))?(?P<path>.*)$", re.DOTALL)
_SCHEMES = {  # Hadoop's, and what pyarrow calls them
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
    """Scheme, host and path, as they are written; without a scheme it is taken for a local one.

    >>> split_path("S3://bucket/a b"), split_path("/tmp/x")
    (('s3', 'bucket', '/a b'), ('file', '', '/tmp/x'))
    """
    found = _URI.match(path)
    return (LOCAL, "", path) if found is None else (found["scheme"].lower(), found["host"] or "", found["path"])


def has_scheme(path: str) -> bool:
    """Whether a path says in which file system it is."""
    return _URI.match(path) is not None


def locate(path: str, given: FileSystem | None = None) -> tuple[FileSystem, str]:
    """The file system of a path, the given one if there is one, and the path in it."""
    parts = parse_path(path)
    return (file_system(parts.scheme, parts.host) if given is None else given), parts.in_store


@lru_cache(maxsize=64)
def file_system(scheme: str, host: str) -> FileSystem:
    """Made once in a worker: some ask the network for what they need to know."""
    if scheme == LOCAL:
        return LocalFileSystem()
    return FileSystem.from_uri(f"{scheme}://{host}/")[0]
