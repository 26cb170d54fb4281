"""XJoin and PJoin in stages: what does not fit into memory goes to disk by partition, and is joined there later.

`tactic` is what the seam of algorithms loads, and `join` is the spill policy that the driver asks. The rest is read in
this order: `events` (what has occurred, and who listens), `tasks` (the later stages), `state` (what the tasks work on:
tuples in `memory`, tuples on `disk`, and the `punctuation_index`).

Invariant: all pairs come out by the end, each once, and no result after its punctuation.

May import what `operator` may, and `operator/pwjoin`, whose loop is the first stage. Tests: `tests/operator/staged/`.
"""
