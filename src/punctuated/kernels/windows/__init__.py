"""Kernels of window joins whose windows have structures of their own: nested loops, hash buckets, B+tree, T-tree.

Invariant: whatever the structure, a probe finds the same tuples (`structures` chooses by its kind at run time). Imports
`kernels`. Tests: `tests/kernels/test_structures.py`.
"""
