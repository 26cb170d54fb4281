"""Streams to try things on: the arrival patterns of the PWJoin experiments, auctions, NEXMark, benchmark workloads."""

from punctuated.streams.auction import auction_sample, auctions
from punctuated.streams.generator import generate
from punctuated.streams.nexmark import Nexmark, nexmark
from punctuated.streams.workloads import w1, w2, w3

__all__ = ["Nexmark", "auction_sample", "auctions", "generate", "nexmark", "w1", "w2", "w3"]
