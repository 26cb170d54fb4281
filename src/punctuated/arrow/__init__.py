"""Arrow's data as the rest of the package needs it: types, tables of any library, rows, JSON, buffers and IPC.

Invariant: values stay what they are, however they are laid out in memory; nothing here knows of joins.
Imports `kernels` and `errors`. Tests: `tests/arrow/`.
"""
