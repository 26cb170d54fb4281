"""Joins over tables, in this process.

    join       `Join`, as `pt.join` returns it
    run        a run: over how many buckets it is spread, and a driver for each of them
    streams    streams over tables, and over the output of joins of tables
    plan       what the plan of a join of tables is made of

Invariant: the output is that of Spark for the same batches. The number of threads changes nothing but the order of
results.

May import: runtime and everything below it in docs/contributing/architecture.md, but not spark. Tests: tests/local/ and
tests/api/.
"""
