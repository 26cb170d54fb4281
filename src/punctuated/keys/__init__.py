"""Keys: which type both sides are cast to, the 64-bit code of each key, its bytes, and patterns over key columns.

Invariant: a code stands for exactly one key, and a key has one code, until a codec says that it has renumbered all.
Imports `snapshot`, `arrow`, `kernels`, `model` and `errors`. Tests: `tests/keys/`.
"""
