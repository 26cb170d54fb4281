"""Punctuated on Spark: the only folder that imports pyspark.

The folders stand in the order in which rows go through a streaming join: `source` reads, `pack` turns rows into blobs
for buckets, Spark exchanges the blobs, `step` joins those of one bucket, `state` keeps a bucket between micro-batches,
`sink` writes what leaves the step, and `metrics` reports. `session` holds what all of them need from Spark, and `joins`
puts a query together.

Invariant: everything of interest runs on arrays, without a JVM; this folder is a thin shell around `runtime` and
`operator`. It uses Spark's public interface alone, so that it also works with Spark Connect.

May import everything that stands to its right, from `runtime` to `errors`; inside, `joins` → `sink` → `step` → `source`
→ `pack` → `state` → `metrics` → `session`. Tests: `tests/spark/`.
"""
