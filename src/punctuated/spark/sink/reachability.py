"""Can the Python workers write to a path so that the driver finds the files? On a cluster a few tasks try it."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from punctuated.errors import SinkError
from punctuated.spark.session.connect import default_file_system, is_connect
from punctuated.storage.tables.location import TableLocation, has_scheme
from punctuated.storage.tables.written_file import STAGED

_MOST_TASKS = 16


def qualified(spark: SparkSession, path: str) -> str:
    """A path that all processes understand: absolute, and in Spark's default file system.

    A client of Spark Connect knows neither, and leaves this to the server.
    """
    if has_scheme(path) or is_connect(spark):
        return path
    absolute, default = os.path.abspath(path), default_file_system(spark)
    return absolute if default.startswith("file:") else f"{default.rstrip('/')}{absolute}"


def why_unreachable(spark: SparkSession, path: str) -> str | None:
    """Why workers cannot write to a path so that the driver finds the files; None if they can."""
    location = TableLocation(path)
    try:
        location.files  # noqa: B018  (opened here for the first time)
    except SinkError as trouble:
        return str(trouble)
    master = spark.conf.get("spark.master", "") or ""
    if master == "local" or master.startswith("local["):
        return None
    if is_connect(spark) and not has_scheme(path):
        return f"with Spark Connect {path} does not say its file system; begin it with hdfs://, s3a:// or file://"
    return _try(spark, location)


def _try(spark: SparkSession, location: TableLocation) -> str | None:
    """Let a task write a file, and driver and workers look for it; what went wrong, or None."""
    probe = Probe(location, f"probe-{uuid.uuid4().hex}")
    try:
        _run(spark, probe, 1)
        found = _run(spark, probe.that("look"), _MOST_TASKS)
        if not is_connect(spark):
            found.append(probe.is_there())
    except Exception as trouble:
        return f"a worker cannot write to {location.path}: {str(trouble).splitlines()[0][:200]}"
    finally:
        _run(spark, probe.that("remove"), 1)
    return None if all(found) else f"{location.path} is not one place for all hosts"


def _run(spark: SparkSession, probe: "Probe", n_tasks: int) -> list[bool]:
    asked = spark.range(0, n_tasks, 1, n_tasks).mapInArrow(probe, "found BOOLEAN")
    return [bool(row[0]) for row in asked.collect()]


@dataclass(frozen=True)
class Probe:
    """The function for `mapInArrow`: writes a file, looks for it, or removes it."""

    location: TableLocation
    name: str
    does: str = "write"

    def that(self, does: str) -> "Probe":
        """The probe of the same file that looks for it, or removes it."""
        return Probe(self.location, self.name, does)

    def is_there(self) -> bool:
        """Whether this process finds the file."""
        return self.location.exists(STAGED, self.name)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"found": [self._done()] * batch.num_rows})

    def _done(self) -> bool:
        if self.does == "write":
            self.location.files.create_dir(self.location.to(STAGED), recursive=True)
            self.location.touch(STAGED, self.name)
        elif self.does == "remove" and self.is_there():
            self.location.files.delete_file(self.location.to(STAGED, self.name))
        return self.is_there()
