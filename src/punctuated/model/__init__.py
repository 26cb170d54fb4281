"""What is said and what is meant: specifications, windows, patterns, punctuations, batches and arguments as plain data.

Invariant: everything here is immutable and engine-free, so that the oracle and all runners can share it.
Imports `errors`. Tests: `tests/model/`.
"""
