"""Lines of text in folders, read and written by Spark itself: so they can lie wherever a checkpoint can."""

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit


def read_text(spark: SparkSession, path: str, files: str = "part-*") -> str | None:
    """The first line of the files in a folder, if there is one."""
    place = f"{path}/{files}"
    try:
        row = spark.read.text([place, place]).first()  # for a single missing path, Spark logs a stack trace
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    return None if row is None else str(row[0])


def write_text(spark: SparkSession, path: str, text: str) -> None:
    """A folder with this line."""
    spark.range(1).select(lit(text).alias("value")).coalesce(1).write.mode("overwrite").text(path)
