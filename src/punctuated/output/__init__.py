"""What comes out: pairs of row numbers become columns, values that are over become punctuations, and views show them.

Invariant: nothing is made that nobody reads: rejected tuples and punctuations become text when they are asked for,
columns that a view or a group does not need are never taken.

May import: shedding and everything below it in docs/contributing/architecture.md. Tests: tests/output/.
"""
