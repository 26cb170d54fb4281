"""What users declare, as plain data: specifications, windows, patterns, punctuations, batches, and checks of arguments.

Invariant: everything here is immutable and knows no engine, so that the oracle and all runners share it.
Imports `errors`. Tests: `tests/model/`.
"""
