"""The W-join report, *Joining Multiple Data Streams with Window Constraints*: service times of joins of many streams.

Each figure compares what a tuple costs in algorithms of the product. Where they stand otherwise than in the report, the
claim says so, and the module's docstring says why. Invariant: this folder imports `papers.lab` and the product only.
Tests are in `tests/papers`.
"""
