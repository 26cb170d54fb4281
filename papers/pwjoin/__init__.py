"""The PWJoin paper: window joins with punctuations, its experiments (sections 5 and 6) and its model of state.

`planned_state` is the product's own model of state against the paper's. Invariant: this folder imports `papers.lab` and
the product only. Tests are in `tests/papers`.
"""
