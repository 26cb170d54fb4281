"""Joins over DataFrames and files, and groups of their results: inputs are packed, exchanged and joined step by step.

Invariant: a query gives what the same join gives over tables, up to the order of rows.

May import all other folders of `spark`, and `runtime` and what stands below it in docs/contributing/architecture.md.
Tests: `tests/spark/joins/`.
"""
