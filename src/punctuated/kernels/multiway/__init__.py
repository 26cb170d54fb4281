"""Kernels of joins of any number of streams, and of unions: their state, their loop, how tuples are found and leave.

Invariant: a result holds the tuple at hand and stored ones, so none comes twice. Imports `kernels`. Tests:
`tests/kernels/`, and the oracle tests of `tests/operator/multiway/`.
"""
