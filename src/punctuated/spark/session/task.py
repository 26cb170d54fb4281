"""What a task of a Python worker knows of itself: its memory, its cores, its micro-batch and its stage."""

import os
from collections.abc import Iterator
from typing import TypeVar

from pyspark import TaskContext

from punctuated.runtime.prefetch import interleave

VARIABLE = "PYSPARK_EXECUTOR_MEMORY_MB"  # set by Spark, from `spark.executor.pyspark.memory` and the cores
_QUERY_ID, _BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"  # local properties of Spark's tasks
T = TypeVar("T")


def worker_limit() -> int | None:
    """How many bytes of memory Spark allows a worker; None without a limit.

    >>> worker_limit() is None
    True
    """
    megabytes = int(os.environ.get(VARIABLE, "-1"))
    return megabytes << 20 if megabytes > 0 else None


def prefetched(items: Iterator[T]) -> Iterator[T]:
    """The same items; in a task with more than one core (`spark.task.cpus`) a few are made before they are needed.

    So a task with several cores reads, joins and writes at the same time.
    """
    context = TaskContext.get()
    return items if context is None or context.cpus() < 2 else interleave([items])


def current_batch() -> tuple[str, int] | None:
    """The query and the micro-batch of this task; None outside of tasks, and with Spark Connect, which hides them."""
    context = TaskContext.get()
    if context is None:
        return None
    query, batch = context.getLocalProperty(_QUERY_ID), context.getLocalProperty(_BATCH_ID)
    return None if query is None or batch is None else (query, int(batch))


def current_stage() -> int | None:
    """Spark's number of the stage of this task, which differs in each micro-batch; None outside of tasks."""
    context = TaskContext.get()
    return None if context is None else context.stageId()
