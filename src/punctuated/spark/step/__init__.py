"""One call for each bucket and micro-batch: restore the bucket, join, emit, save what changed.

Invariant: what a step emits and stores depends on the stored state and the objects of the batch alone, but for the
token of the commit.

May import `spark.pack`, `spark.state`, `spark.metrics`, `spark.session`, and `runtime` and what stands below it in
docs/contributing/architecture.md. Tests: `tests/spark/step/`.
"""
