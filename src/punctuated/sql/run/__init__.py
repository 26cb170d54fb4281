"""A script of statements, checked as a whole and then run on Spark or on tables.

Idea: a check binds every statement to streams without rows, so mistakes are found before anything starts; then each
statement gets its sink and is started.

Invariant: a checkpoint serves every way to run a script: to the end, up to what is there, or until it is stopped.

May import: `bind`, `sources`, `parse`, and `api` and everything below it in docs/contributing/architecture.md. Tests:
`tests/sql/run/`.
"""
