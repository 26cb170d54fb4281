"""Keys: which type both sides are cast to, the 64-bit code of each key, its bytes, and patterns over key columns.

Invariant: a code stands for exactly one key, and a key has one code, until a codec says that it has renumbered all.
Imports `expressions` and what stands to the right of it, of which it needs `snapshot`, `arrow`, `kernels`, `model` and
`errors`. Tests: `tests/keys/`, and `tests/api/test_keys.py` for whole joins.
"""
