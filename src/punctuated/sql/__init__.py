"""The query language: SQL with windows and punctuations.

Idea: a text becomes plain data (`parse`), names in it become streams of the API and columns (`bind`), and a script of
statements becomes running queries (`run`); `sources` opens what CREATE STREAM names.

Invariant: whatever is wrong with a text is a `SqlError` that points at the characters that are wrong. A query gives
what the same calls of the API give: nothing is computed here.

May import: `api` and everything below it in docs/contributing/architecture.md. Inside, each folder imports what stands
below it in docs/contributing/architecture.md: run, bind, sources, parse. Tests: `tests/sql/`.
"""
