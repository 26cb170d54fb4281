"""The public calls in Python, one module for each word of a user: `stream`, `join`, `union`, `files`, `explain`.

A call checks what kind of data it got, has it declared and bound, and hands it to the runner that has the data.

Invariant: tables and DataFrames take the same calls and give the same output; pyspark is imported only when something
of Spark is given.

May import: spark, local and everything to their right. Tests: tests/api/.
"""
