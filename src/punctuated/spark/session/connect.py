"""Whether this process is a driver or a client of Spark Connect, and what only a driver knows."""

from pyspark.sql import SparkSession


def is_connect(spark: SparkSession) -> bool:
    """Whether this process is a client of Spark Connect, not a driver."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def default_file_system(spark: SparkSession) -> str:
    """The file system of paths without a scheme; only for a driver."""
    return str(spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS") or "file:///")


def root_cause(error: Exception) -> str:
    """The first line of the exception that was thrown first, whether it comes through Py4J or Spark Connect."""
    lines = str(error).strip().splitlines()
    first = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    thrown = [line.removeprefix(": ") for line in lines if line.startswith(": ")]  # behind Py4J's own first line
    return [*first[-1:], *thrown, *lines, type(error).__name__][0]
