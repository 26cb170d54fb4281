"""What the other folders need from a Spark session, its workers and its types.

`session` has the settings, `connect` and `versions` the differences between Sparks, `types` and `columns` those between
Spark's DataFrames and Arrow's tables, `workers` and `task` what is known of Python workers in the driver and in a task.
`query` is a join as it is sent to the workers, `local` a Spark of this process for demos and tests.

Invariant: only `versions` asks for the version of Spark, and only `connect` whether there is a JVM.

May import `runtime` and what stands below it in docs/contributing/architecture.md. Tests: `tests/spark/session/`.
"""
