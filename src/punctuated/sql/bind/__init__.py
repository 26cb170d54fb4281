"""From plain data to a query over streams.

Idea: a name is looked up, an expression is translated, a predicate goes where it filters most, and FROM, GROUP BY and
UNION ALL become calls of the same API that users call.

Invariant: whatever the API refuses is a `SqlError` at the position of the clause that asked for it. Types are checked
when a query is bound, before a row is read.

May import: `sources`, `parse`, and `api` and everything below it in docs/contributing/architecture.md. Tests:
`tests/sql/bind/`.
"""
