"""What kind of session this process has, and which file system is Spark's."""

from pyspark.sql import SparkSession


def is_connect(spark: SparkSession) -> bool:
    """Whether this process is a client of Spark Connect, not a driver."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def default_file_system(spark: SparkSession) -> str:
    """Where paths without a scheme are, for a driver."""
    return str(spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS") or "file:///")
