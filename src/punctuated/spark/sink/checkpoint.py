"""Lines of text in folders, read and written by Spark itself: so they can lie wherever a checkpoint can."""

import json

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import SinkError
from punctuated.snapshot import fingerprint
from punctuated.spark.session.kind import cause_of
from punctuated.state.fingerprint import fingerprint_of

_QUERY = "punctuated_query"


def read_text(spark: SparkSession, path: str, files: str = "part-*") -> str | None:
    """The first line of the files in a folder, if there is one."""
    place = f"{path}/{files}"
    try:
        row = spark.read.text([place, place]).first()  # for a single missing path, Spark logs a stack trace
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    except Exception as error:  # of Py4J or of Connect
        raise _unreachable("read", path, error) from error
    return None if row is None else str(row[0])


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """A folder with this line."""
    line = spark.range(1).select(lit(text).alias("value")).coalesce(1)
    try:
        line.write.mode("overwrite").text(path)
    except Exception as error:  # of Py4J or of Connect
        raise _unreachable("write", path, error) from error


def _unreachable(what: str, path: str, error: Exception) -> SinkError:
    return SinkError(f"Spark cannot {what} {path!r}: {cause_of(error)}. Give a path that driver and workers can reach")


# Which query a checkpoint is of, told beside Spark's own files.
#
# Steps check the state that they restore, but only in workers, and only when rows come. With this a query that does
# not fit is refused where it is built. What is told is the query of the first start: whatever may follow it, may
# follow its later versions as well, so it never refuses what the steps would take.


class ToldQuery:
    """The query that is about to start, and what the checkpoint says of its own."""

    def __init__(self, spark: SparkSession, checkpoint: str, join: BoundJoin, finish: bool) -> None:
        """`finish`: the query has one more input, which ends the others; Spark counts inputs, but does not say so."""
        self._spark, self._checkpoint = spark, checkpoint.rstrip("/")
        ours = fingerprint_of(join.spec, join.schemas, join.key_types)
        self._ours: fingerprint.Fingerprint = {**ours, **join.definition, "finish=": str(finish)}
        told = read_text(spark, self._path)
        self._told: fingerprint.Fingerprint | None = None if told is None else json.loads(told)

    def check(self) -> None:
        """Raise if the checkpoint has batches of another query."""
        if self._told not in (None, self._ours) and self._has_begun:
            assert self._told is not None
            fingerprint.check(self._told, self._ours)

    def tell(self) -> None:
        """Tell it to those who start with this checkpoint later, unless there are batches already."""
        if self._told != self._ours and not self._has_begun:
            write_text(self._spark, self._path, json.dumps(self._ours))
            self._told = self._ours

    @property
    def _path(self) -> str:
        return f"{self._checkpoint}/{_QUERY}"

    @property
    def _has_begun(self) -> bool:
        return read_text(self._spark, f"{self._checkpoint}/commits", "[0-9]*") is not None
