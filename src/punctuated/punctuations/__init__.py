"""What the streams have ended beyond single values in the index: the memory of punctuations, ranges, promises.

Invariant: a punctuation purges only once it is in effect; entries that are forgotten for want of room never change the
results of streams that keep their promises (XD-12).

May import: state and everything below it in docs/contributing/architecture.md. Tests: tests/punctuations/.
"""
