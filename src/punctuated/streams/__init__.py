"""Streams to try things with: the arrival patterns of the PWJoin experiments, auctions, stores, NEXMark, workloads.

Invariant: the same arguments give the same tables, on every machine; every stream keeps its promises.

May import: model and errors. Tests: tests/streams/.
"""

from punctuated.streams.auction import auction_sample, auctions
from punctuated.streams.generator import generate
from punctuated.streams.nexmark import Nexmark, nexmark
from punctuated.streams.stores import stores
from punctuated.streams.workloads import w1, w2, w3

__all__ = ["Nexmark", "auction_sample", "auctions", "generate", "nexmark", "stores", "w1", "w2", "w3"]
