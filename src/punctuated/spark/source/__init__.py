"""What Spark reads for a join: files without Spark's rows, generated streams, and the end of all streams.

Invariant: the rows of a micro-batch follow from its offsets and options alone, so a repeated batch reads the same rows.

May import `spark.pack`, `spark.session`, `streams`, and `runtime` and what stands below it in
docs/contributing/architecture.md. Tests: `tests/spark/source/`.
"""
