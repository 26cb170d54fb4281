"""Kernels: compiled functions on arrays, which do all work that is done per tuple.

The loop of PWJoin is in `process`, and reads as in the paper: it probes (`probe`), stores (`time_list`, `value_index`),
invalidates (`invalidate`), purges (`purge`) and propagates (`propagate`). `multiway/` has the loop of joins of any
number of streams and of unions, `windows/` that of window joins with structures of their own. `jit` says how all is
compiled, `by_state` which function has a body for each kind of state, `layout` what the arrays hold.

Invariant: arrays in, arrays out; a kernel raises nothing, allocates nothing where it works in place, and comes back to
Python when a buffer may not suffice. Imports `storage` (the folder of machine code) and `model` (constants).
Tests: `tests/kernels/`; the oracle tests of `tests/operator/` run every loop.
"""
