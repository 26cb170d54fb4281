"""Snapshots: parts of a state that save themselves, the journal of what has changed in them, and whether they fit.

Invariant: a driver that is restored goes on as if nothing had happened. The names of parts and the types of their
records are the format of checkpoints; `tests/golden` holds states of this format and of the one before.

May import: arrow and everything below it in docs/contributing/architecture.md. Tests: tests/snapshot/, tests/golden/.
"""
