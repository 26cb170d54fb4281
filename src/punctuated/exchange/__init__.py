"""A join spread over buckets by key, and batches as bytes on their way to a bucket.

`spread` cuts the batch of a stream into one batch for each bucket. `parcels` turns these into bytes and puts the bytes
of a bucket together again.

Invariant: the buckets together equal one driver for all keys. Every bucket gets the tick of every batch, so a bucket
without objects expires, purges and propagates as well.

May import `output` and what stands below it in docs/contributing/architecture.md; it needs `intake`, `keys`, `arrow`,
`kernels` and `model`. Tests: `tests/exchange/`.
"""
