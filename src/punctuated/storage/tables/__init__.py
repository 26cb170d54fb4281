"""Tables that a join writes by itself: Parquet files beside each other, and what makes a batch of them visible.

`sink` is what users declare (`pt.parquet`, `pt.delta`). A worker writes files (`writer`) that no reader sees yet; each
file becomes a `WrittenFile` that Spark carries to the driver. The driver makes all files of a batch visible at once,
by a folder (`parquet_folder`) or by a commit (`delta_table`).

Invariant: a batch is visible with all its rows or not at all, and once, however often it is repeated.

May import `model` and `errors`. Tests: `tests/storage/tables/`.
"""
