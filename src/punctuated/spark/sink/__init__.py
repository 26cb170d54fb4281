"""One query runs a join once and writes each part of its output to a sink of its own: `pt.write_to`.

Invariant: a table holds every row exactly once, whatever fails in between, and a checkpoint or a folder with the output
of another query is refused before anything runs.

May import `spark.session`, and `plan` and what stands below it in docs/contributing/architecture.md. Tests:
`tests/spark/sink/`.
"""
