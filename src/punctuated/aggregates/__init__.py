"""Aggregates of groups: how the values of all open groups are accumulated batch by batch, saved and finished.

Results depend neither on the order of rows nor on batches or buckets. `strategies` says how each aggregate of the table
in `model.aggregate` is computed. Imports what stands below `aggregates` in docs/contributing/architecture.md: state of
punctuations, intake, kernels and below, but no output. Tests: `tests/aggregates/`.
"""
