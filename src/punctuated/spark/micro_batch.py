"""Which micro-batch a task works for."""

from pyspark import TaskContext

from punctuated.spark.metrics.heard import Batch

_QUERY_ID, _BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"  # local properties of its tasks


def current_batch() -> Batch | None:
    """That of this task; None outside of tasks, and with Spark Connect, which does not say."""
    context = TaskContext.get()
    if context is None:
        return None
    query, batch = context.getLocalProperty(_QUERY_ID), context.getLocalProperty(_BATCH_ID)
    return None if query is None or batch is None else (query, int(batch))


def current_stage() -> int | None:
    """Spark's number of the stage of this task, which differs in each micro-batch; None outside of tasks."""
    context = TaskContext.get()
    return None if context is None else context.stageId()
