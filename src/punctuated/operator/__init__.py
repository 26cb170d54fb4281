"""The operator: a join, batch by batch, on arrays. It knows no engine; the same driver serves a table and a bucket.

    driver     owns time, batches and output: takes a batch in, lets the tactic run, makes room, hands results out
    tactic     owns the work of one object after another: how tuples are kept, and how they find each other
    family     the seam for algorithms: what one can do, what its driver is made of, how a plan explains it
    pwjoin     one index of values for both sides: PWJoin, WJoin, PJoin, symmetric hash join
    windows    a structure on each window: nested loops, hash buckets, B+tree, T-tree, in any pair
    multiway   any number of streams: HW, NLW, MW, GCA, LCA, and the baselines Ripple and XJoin
    staged     XJoin and PJoin in stages, driven by events
    union      streams that are not joined

Invariant: after a batch, the state holds exactly what a result to come may still need, as far as windows and
punctuations prove it. Batches, buckets and threads change nothing of what comes out.

May import: spill and everything below it in docs/contributing/architecture.md. Tests: tests/operator/.
"""
