"""What a join does if its state does not fit into memory: one store of blocks on disk, and two policies that use it.

No kernel and no tactic knows that a part of the state is elsewhere: the driver asks a `SpillPolicy` before and after
each part of a batch. Read `policy` first, then `blocks`, which both policies keep their tuples in: a block is written
once, and saved once. The policy of this folder is `values`: whole values that nothing touches are spilled, and loaded
before anything touches them, so that the output is that of the join in memory. The other one, joins in stages, is in
`operator/staged`: partitions are spilled, and their results come later.

May import what stands below it in docs/contributing/architecture.md: output, punctuations, state, keys, snapshot,
arrow, kernels, storage, model. Tests: `tests/spill/`.
"""
