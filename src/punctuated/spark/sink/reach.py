"""Can the Python workers write to a path? On one host they can; on a cluster they are asked."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from punctuated.errors import SinkError
from punctuated.spark.session.kind import default_file_system, is_connect
from punctuated.storage.tables.file_systems import has_scheme
from punctuated.storage.tables.location import Place
from punctuated.storage.tables.names import STAGED

_ASKED = 16  # tasks, at most


def qualified(spark: SparkSession, path: str) -> str:
    """A path that all processes understand: made absolute, and in Spark's default file system.

    A client of Spark Connect knows neither, and leaves this to the server.
    """
    if has_scheme(path) or is_connect(spark):
        return path
    absolute, default = os.path.abspath(path), default_file_system(spark)
    return absolute if default.startswith("file:") else f"{default.rstrip('/')}{absolute}"


def why_unreachable(spark: SparkSession, path: str) -> str | None:
    """Why workers cannot write there so that the driver finds it; None if they can."""
    place = Place(path)
    try:
        place.files  # noqa: B018  (opened here for the first time)
    except SinkError as trouble:
        return str(trouble)
    master = spark.conf.get("spark.master", "") or ""
    if master == "local" or master.startswith("local["):
        return None
    if is_connect(spark) and not has_scheme(path):
        return f"with Spark Connect {path} does not say its file system; begin it with hdfs://, s3a:// or file://"
    return _ask(spark, place)


def _ask(spark: SparkSession, place: Place) -> str | None:
    """A task leaves a file, then driver and workers look for it."""
    probe = Probe(place, f"probe-{uuid.uuid4().hex}")
    try:
        _run(spark, probe, 1)
        found = _run(spark, probe.looking(), _ASKED)
        if not is_connect(spark):
            found.append(probe.is_there())
    except Exception as trouble:
        return f"a worker cannot write to {place.path}: {str(trouble).splitlines()[0][:200]}"
    finally:
        _run(spark, probe.removing(), 1)
    return None if all(found) else f"{place.path} is not one place for all hosts"


def _run(spark: SparkSession, probe: "Probe", n_tasks: int) -> list[bool]:
    asked = spark.range(0, n_tasks, 1, n_tasks).mapInArrow(probe, "found BOOLEAN")
    return [bool(row[0]) for row in asked.collect()]


@dataclass(frozen=True)
class Probe:
    """The function for `mapInArrow`: writes a file, looks for it, or removes it."""

    place: Place
    name: str
    does: str = "leave"

    def looking(self) -> "Probe":
        """The one that looks."""
        return Probe(self.place, self.name, "look")

    def removing(self) -> "Probe":
        """The one that tidies up."""
        return Probe(self.place, self.name, "remove")

    def is_there(self) -> bool:
        """Whether this process sees the file."""
        return self.place.exists(STAGED, self.name)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"found": [self._done()] * batch.num_rows})

    def _done(self) -> bool:
        if self.does == "leave":
            self.place.files.create_dir(self.place.to(STAGED), recursive=True)
            self.place.touch(STAGED, self.name)
        elif self.does == "remove" and self.is_there():
            self.place.files.delete_file(self.place.to(STAGED, self.name))
        return self.is_there()
