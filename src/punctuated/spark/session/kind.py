"""What kind of session this process has, and which file system is Spark's."""

from pyspark.sql import SparkSession


def is_connect(spark: SparkSession) -> bool:
    """Whether this process is a client of Spark Connect, not a driver."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def default_file_system(spark: SparkSession) -> str:
    """Where paths without a scheme are, for a driver."""
    return str(spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS") or "file:///")


# What went wrong in Spark, in one line.


def cause_of(error: Exception) -> str:
    """What was thrown at first, without the traces of those who heard of it."""
    lines = str(error).strip().splitlines()
    first = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    thrown = [line.removeprefix(": ") for line in lines if line.startswith(": ")]  # behind Py4J's own first line
    return [*first[-1:], *thrown, *lines, type(error).__name__][0]
