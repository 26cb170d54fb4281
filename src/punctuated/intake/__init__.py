"""From rows to objects in the order of processing: what is read, what is late, which keys, which punctuations.

Invariant: a batch gives the same objects whatever the order in which its rows came, and whichever bucket they are for:
clocks depend on the tick of the whole batch, not on the rows at hand.

May import: keys and everything below it in docs/contributing/architecture.md. Tests: tests/intake/.
"""
