"""Where the rows of CREATE STREAM come from.

Idea: each place where a query can run opens the sources of its streams: Spark as streaming DataFrames or files
(`spark`), this process as tables (`tables`), a check as tables without rows (`schemas`), `pt.sql` as what it was called
with (`arguments`).

Invariant: names, options and columns of a source are the same wherever a script runs; an option that a place cannot
honour is refused.

May import: `parse`, and `api` and everything below it in docs/contributing/architecture.md. Tests:
`tests/sql/sources/`.
"""
