"""Joins under limited resources: which tuples are left out, and estimates of groups from what is left (KN-33 … KN-42).

`control` decides how much is shed in a batch, `coins` which tuples that are, and `estimates` makes aggregates of the
pairs that still come out.

Invariant: nothing is random at run time, and no clock is read: a batch that is repeated sheds the same tuples.

May import what stands below it in docs/contributing/architecture.md: state, intake, keys, snapshot, arrow, kernels,
model. Tests: `tests/shedding/`.
"""
