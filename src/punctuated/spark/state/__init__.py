"""A bucket between micro-batches: in Spark's state store, in a worker's memory, and in files of the host.

Invariant: the state store is the only truth. Memory and files are used only under the token of the commit that is in
the store, and a batch that fails or runs twice leaves nothing that could be mistaken for a committed state.

May import `spark.metrics`, `spark.session`, and `runtime` and what stands below it in
docs/contributing/architecture.md. Tests: `tests/spark/state/`.
"""
