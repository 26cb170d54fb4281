"""The PJoin slides: joins that purge and propagate by punctuations, without windows, and XJoin beside them.

Invariant: this folder imports `papers.lab` and the product only. Tests are in `tests/papers`.
"""
