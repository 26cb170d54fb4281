"""Lines of text in folders, read and written by Spark itself: so they can lie wherever a checkpoint can."""

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from punctuated.errors import SinkError
from punctuated.spark.causes import cause_of


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
