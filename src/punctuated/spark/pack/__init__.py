"""Rows of a stream become one blob for each bucket, so that Spark shuffles blobs and not rows.

Invariant: a row goes to the bucket of its key, whatever the batch, the task and the number of partitions.

May import `spark.state`, `spark.session`, and `runtime` and what stands below it in docs/contributing/architecture.md.
Tests: `tests/spark/pack/`.
"""
