"""Streams to try things on: the arrival patterns of the PWJoin experiments, auctions, and benchmark workloads."""

from punctuated.streams.auction import auction_sample, auctions
from punctuated.streams.generator import generate
from punctuated.streams.workloads import w1, w2, w3

__all__ = ["auction_sample", "auctions", "generate", "w1", "w2", "w3"]
