"""The public calls in Python, one module for each word of a user: `join`, `union`, `stream`, `files`, `explain`.

A call checks what kind of data it got, has it declared and bound, and hands it to the runner that has the data. No call
imports pyspark unless it is given something of Spark. `punctuated/__init__.py` lists the names that users see.

May import `spark`, `local` and everything to their right in the order of layers. Tests: `tests/api`.
"""
