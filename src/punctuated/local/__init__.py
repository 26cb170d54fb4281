"""Joins over tables, in this process.

`Join` reads all streams batch by batch, and runs a driver for each bucket when its output is first asked for. The
output is that of Spark for the same batches, by test; it does not depend on the number of threads but for the order of
the results.

May import `runtime`, `bind` and everything to their right in the order of layers, but not `spark`. Tests: `tests/local`
and `tests/api`.
"""
