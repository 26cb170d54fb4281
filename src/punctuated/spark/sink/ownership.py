"""Which query a checkpoint belongs to, and which checkpoint a folder of files belongs to.

A checkpoint holds the definition of the query that it was first started with, and a token; a folder holds the token of
its checkpoint. All are lines of text, read and written by Spark itself, so they can be wherever a checkpoint can be. A
query that does not fit is refused where it is built, before anything is written.
"""

import json
import os
import posixpath
import uuid
from collections.abc import Mapping, Sequence
from itertools import combinations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import SinkError, StreamError
from punctuated.snapshot import fingerprint
from punctuated.spark.session.connect import root_cause
from punctuated.state.fingerprint import fingerprint_of
from punctuated.storage.tables.location import LOCAL, split_path

_QUERY = "punctuated_query"  # the definition, beside Spark's own files in the checkpoint
_OWNER = "_punctuated"  # a leading underscore hides it from those who read the folder
_TOKEN = "punctuated_sinks"  # the token, beside it
_SAME_STORE = {"s3": "s3a", "s3n": "s3a"}  # names of one store


def read_text(spark: SparkSession, path: str, files: str = "part-*") -> str | None:
    """The first line of the files in a folder, if there is one."""
    pattern = f"{path}/{files}"
    try:
        row = spark.read.text([pattern, pattern]).first()  # for a single missing path, Spark logs a stack trace
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    except Exception as error:  # of Py4J or of Connect
        raise _unreachable("read", path, error) from error
    return None if row is None else str(row[0])


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """Write a folder with this line."""
    line = spark.range(1).select(lit(text).alias("value")).coalesce(1)
    try:
        line.write.mode("overwrite").text(path)
    except Exception as error:  # of Py4J or of Connect
        raise _unreachable("write", path, error) from error


def _unreachable(what: str, path: str, error: Exception) -> SinkError:
    return SinkError(
        f"Spark cannot {what} {path!r}: {root_cause(error)}. Give a path that driver and workers can reach"
    )


# The query of a checkpoint


class CheckpointOwner:
    """The query that owns a checkpoint, and the query that is about to start with it.

    Steps check the state that they restore as well, but only in workers, and only when rows come. The owner is the
    query of the first start: what may follow it may also follow its later versions, so no query is refused that the
    steps would accept.
    """

    def __init__(self, spark: SparkSession, checkpoint: str, join: BoundJoin, finish: bool) -> None:
        """`finish`: the query has one more input, which ends the others; Spark checks inputs by their number only."""
        self._spark, self._checkpoint = spark, checkpoint.rstrip("/")
        ours = fingerprint_of(join.spec, join.schemas, join.key_types)
        self._ours: fingerprint.Fingerprint = {**ours, **join.definition, "finish=": str(finish)}
        text = read_text(spark, self._path)
        self._owner: fingerprint.Fingerprint | None = None if text is None else json.loads(text)

    def check(self) -> None:
        """Raise if the checkpoint has batches of another query."""
        if self._owner not in (None, self._ours) and self._has_begun:
            assert self._owner is not None
            fingerprint.check(self._owner, self._ours)

    def claim(self) -> None:
        """Make the query the owner of the checkpoint, unless the checkpoint has batches already."""
        if self._owner != self._ours and not self._has_begun:
            write_text(self._spark, self._path, json.dumps(self._ours))
            self._owner = self._ours

    @property
    def _path(self) -> str:
        return f"{self._checkpoint}/{_QUERY}"

    @property
    def _has_begun(self) -> bool:
        return read_text(self._spark, f"{self._checkpoint}/commits", "[0-9]*") is not None


# The checkpoint of a folder
#
# Batch ids start again with a new checkpoint, so a folder belongs to the checkpoint that it was first written with. A
# file in the folder says so; it is written before the first batch. A folder with files but without this file is
# foreign.


def path_parts(path: str) -> tuple[str, ...]:
    """The parts of the path that a path leads to: local paths as the file system resolves them, others by their text.

    >>> path_parts("S3://bucket/a//b/../c/") == path_parts("s3a://bucket/a/c")
    True
    >>> path_parts("file:///x/y") == path_parts("file:/x/./y/") == path_parts("/x/y")
    True
    """
    scheme, host, inside = split_path(path)
    if scheme == LOCAL:
        return (LOCAL, *os.path.realpath(inside).strip("/").split("/"))
    whole = posixpath.normpath("/" + inside).strip("/")
    return (f"{_SAME_STORE.get(scheme, scheme)}://{host.lower()}", *whole.split("/"))


def check_apart(folders: Mapping[str, str]) -> None:
    """Raise if two of these folders (named by their use) are the same, or one lies in another."""
    parts = {name: path_parts(path) for name, path in folders.items()}
    for one, two in combinations(folders, 2):
        if parts[one] == parts[two]:
            raise StreamError(f"{one} and {two} have the same path {folders[two]!r}; give each its own")
        for inner, outer in ((one, two), (two, one)):
            if parts[inner][: len(parts[outer])] == parts[outer]:
                raise StreamError(
                    f"the path of {inner} ({folders[inner]!r}) lies inside that of {outer} ({folders[outer]!r}), whose "
                    "readers would meet files of both; give them folders side by side"
                )


def claim_folders(spark: SparkSession, paths: Sequence[str], checkpoint: str) -> str:
    """Make sure that the folders belong to this checkpoint, and claim new ones for it. Returns its token."""
    own = f"{checkpoint.rstrip('/')}/{_TOKEN}"
    token = read_text(spark, own)
    owners = {path: read_text(spark, f"{path}/{_OWNER}") for path in paths}
    for path, owner in owners.items():
        if owner is None and _holds_files(spark, path):
            raise StreamError(
                f"{path} holds files that write_to has not written, and the output would be mixed with them: give a "
                "folder that is new or empty, or move these files away"
            )
        if owner is not None and owner != token:
            raise StreamError(
                f"{path} holds the output of another checkpoint than {checkpoint}, and would be overwritten batch by "
                "batch: give another path, or the checkpoint it was written with, or delete it"
            )
    if token is None:
        token = uuid.uuid4().hex
        write_text(spark, own, token)
    for path, owner in owners.items():
        if owner is None:
            write_text(spark, f"{path}/{_OWNER}", token)
    return token


def _holds_files(spark: SparkSession, path: str) -> bool:
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    try:
        return files.load([path, path]).select("path").first() is not None
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return False
