"""The settings of a Spark session that streaming joins need, and how many buckets they get."""

import logging
from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from punctuated.errors import SessionError, StreamError
from punctuated.model.arguments import whole_number
from punctuated.model.spec import MOST_BUCKETS, MOST_ROUNDS, JoinSpec, JoinType
from punctuated.spark.session.connect import default_file_system, is_connect
from punctuated.spark.session.workers import check_worker_python

REQUIRED = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
}

RECOMMENDED = {  # a commit writes what has changed, not the files of the store
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}

ON_LOCAL_FILES = {  # otherwise Spark starts a hundred child processes per micro-batch, for `readlink` and `chmod`
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

IF_UNSET = {  # otherwise a step gets the rows of all buckets of its task in one piece
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}

AT_START = {  # otherwise tasks wait 40 ms for timers of the network, before they get their first rows
    "spark.python.unix.domain.socket.enabled": "true",
}

_LOG = logging.getLogger("punctuated.session")
_ROUNDS = 16  # buckets for each partition, where memory is limited


def configure(spark: SparkSession) -> SparkSession:
    """Set what streaming joins need: the RocksDB state store, and checkpoints that survive zombie writers.

    Rows come to Python workers in pieces of 16 MiB, unless the session says otherwise. If Spark's file system is the
    local one, files are also renamed without child processes, unless the session says otherwise. Every change is
    logged, and so is what only the start of a session could set. Returns the session, so that it can be wrapped around
    a builder: `spark = pt.configure(builder.getOrCreate())`. Raises if the Python workers of this machine could not
    import this package.
    """
    check_worker_python(spark)
    wanted_settings = IF_UNSET | (ON_LOCAL_FILES if _is_on_local_files(spark) else {})
    unset = {name: value for name, value in wanted_settings.items() if _conf(spark, name) is None}
    for name, value in (REQUIRED | RECOMMENDED | unset).items():
        spark.conf.set(name, value)
        _LOG.info("%s = %s", name, value)
    for name, value in AT_START.items():
        if _conf(spark, name) is None:
            _LOG.info("batches would be faster with %s = %s, which only the start of a session can set", name, value)
    return spark


def _is_on_local_files(spark: SparkSession) -> bool:
    """Whether a path without a scheme is on this host; a client of Spark Connect does not know."""
    return not is_connect(spark) and default_file_system(spark).startswith("file:")


def session_with(name: str, settings: Mapping[str, str], master: str = "local[2]") -> SparkSession:
    """A classic session of this process with these settings, for layers that may not import pyspark."""
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in (AT_START | dict(settings)).items():
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
    """The number of partitions of an exchange."""
    return int(_conf(spark, "spark.sql.shuffle.partitions") or 200)


def choose_buckets(spark: SparkSession, spec: JoinSpec, wanted: int | None) -> int:
    """The number of buckets: as many as partitions, rounded up to a power of two; one, if one must hold everything.

    With a limit of memory there are more: one bucket is in memory while it is processed, the others wait in the store.
    """
    if spec.how is JoinType.FULL and not spec.left.key and wanted != 1:
        raise StreamError(
            "a full outer join without a key cannot be spread: one side goes to every bucket, and its unmatched rows "
            "would come out of each; use how='inner', 'left', 'right', 'semi' or 'anti', or buckets=1"
        )
    if spec.counts_whole_streams:
        if wanted not in (None, 1):
            raise StreamError(f"buckets={wanted}: pt.rows(n) over a whole stream needs one bucket; leave it out")
        return 1
    if wanted is None:
        even = min(MOST_BUCKETS, 1 << (shuffle_partitions(spark) - 1).bit_length())
        is_limited = spec.memory is not None and not spec.is_staged
        return max(even, min(_ROUNDS * even, MOST_ROUNDS)) if is_limited else even
    return whole_number(wanted, "buckets", StreamError, least=1, most=MOST_BUCKETS)


def _conf(spark: SparkSession, name: str) -> str | None:
    try:
        return spark.conf.get(name, None)
    except PySparkException:
        return None
