"""Folders of Parquet sinks: none may lie in another, and each belongs to one checkpoint.

Batch ids start again with a new checkpoint, so a folder belongs to the checkpoint that it was first written with. A
file in the folder says so; it is written before the first batch. A folder with files but without this file is foreign.
"""

import os
import posixpath
import uuid
from collections.abc import Mapping, Sequence
from itertools import combinations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from punctuated.errors import StreamError
from punctuated.spark.sink.checkpoint import read_text, write_text
from punctuated.storage.tables.file_systems import LOCAL, split_path

_OWNER = "_punctuated"  # a leading underscore hides it from those who read the folder
_TOKEN = "punctuated_sinks"  # beside Spark's own files in the checkpoint
_SAME_STORE = {"s3": "s3a", "s3n": "s3a"}  # names of one store


def place_of(path: str) -> tuple[str, ...]:
    """Where a path leads, part by part: local paths as the file system sees them, others by their text.

    >>> place_of("S3://bucket/a//b/../c/") == place_of("s3a://bucket/a/c")
    True
    >>> place_of("file:///x/y") == place_of("file:/x/./y/") == place_of("/x/y")
    True
    """
    scheme, host, inside = split_path(path)
    if scheme == LOCAL:
        return (LOCAL, *os.path.realpath(inside).strip("/").split("/"))
    whole = posixpath.normpath("/" + inside).strip("/")
    return (f"{_SAME_STORE.get(scheme, scheme)}://{host.lower()}", *whole.split("/"))


def check_apart(folders: Mapping[str, str]) -> None:
    """Raise if two of these folders (named by their use) are the same, or one lies in another."""
    places = {name: place_of(path) for name, path in folders.items()}
    for one, two in combinations(folders, 2):
        if places[one] == places[two]:
            raise StreamError(f"{one} and {two} have the same path {folders[two]!r}; give each its own")
        for inner, outer in ((one, two), (two, one)):
            if places[inner][: len(places[outer])] == places[outer]:
                raise StreamError(
                    f"the path of {inner} ({folders[inner]!r}) lies inside that of {outer} ({folders[outer]!r}), whose "
                    "readers would meet files of both; give them folders side by side"
                )


def claim(spark: SparkSession, paths: Sequence[str], checkpoint: str) -> str:
    """Make sure that the folders belong to this checkpoint; new ones do from now on. Returns its token."""
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
