"""What a Spark session must have set for streaming joins."""

from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from punctuated.errors import SessionError

REQUIRED = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
}

RECOMMENDED = {  # a commit writes what has changed, not the files of the store
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}


def configure(spark: SparkSession) -> SparkSession:
    """Set what streaming joins need: the RocksDB state store, and checkpoints that outlive zombie writers.

    Returns the session, so that it can be wrapped around a builder: `spark = pt.configure(builder.getOrCreate())`.
    """
    for name, value in (REQUIRED | RECOMMENDED).items():
        spark.conf.set(name, value)
    return spark


def session_with(name: str, settings: Mapping[str, str], master: str = "local[2]") -> SparkSession:
    """A classic session of this process with these settings, for those who may not import pyspark."""
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def check_session(spark: SparkSession) -> None:
    """Raise if a streaming join could not run, with the lines to set."""
    missing = [name for name, value in REQUIRED.items() if _conf(spark, name) != value]
    if missing:
        lines = "\n".join(f'    spark.conf.set("{name}", "{REQUIRED[name]}")' for name in missing)
        raise SessionError(
            f"this Spark session lacks settings for streaming joins; call pt.configure(spark), or set\n{lines}"
        )


def shuffle_partitions(spark: SparkSession) -> int:
    """Over how many partitions an exchange spreads."""
    return int(_conf(spark, "spark.sql.shuffle.partitions") or 200)


def _conf(spark: SparkSession, name: str) -> str | None:
    try:
        return spark.conf.get(name, None)
    except PySparkException:
        return None
