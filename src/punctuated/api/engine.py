"""Spark, for those who use it: pyspark is imported only when one of these is called."""

from typing import Any


def configure(spark: Any) -> Any:
    """Set what streaming joins need in a Spark session; returns the session."""
    from punctuated.spark.session import configure as set_all

    return set_all(spark)


def register_source(spark: Any) -> None:
    """Make `spark.readStream.format("punctuated")` known to a session."""
    from punctuated.spark.source import register

    register(spark)
