"""How much memory Spark allows a Python worker."""

import os

VARIABLE = "PYSPARK_EXECUTOR_MEMORY_MB"  # set by Spark, from `spark.executor.pyspark.memory` and the cores


def worker_limit() -> int | None:
    """Bytes; None without a limit.

    >>> worker_limit() is None
    True
    """
    megabytes = int(os.environ.get(VARIABLE, "-1"))
    return megabytes << 20 if megabytes > 0 else None
