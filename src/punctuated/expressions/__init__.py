"""Expressions over columns: how users write them, the nodes they are, their functions, and their values.

Invariant: the value of a row depends on that row alone; what cannot be computed is null there and nowhere else.
Imports `model` and `errors`. Tests: `tests/expressions/`.
"""
