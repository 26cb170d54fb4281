"""Arrival patterns: the order in which the values of a stream come, and where each is ended (PW-46, PW-53, PW-54).

    punct-asc-4-50     0 2 1 0 | 1 3 1 5 1 | 2 4 2 | ...      one segment per punctuated value, in their order
                             <0>         <1>     <2>

A segment ends with the last tuple of its value; its other tuples carry values of later segments. So no value occurs
after its punctuation. In a `cluster` all tuples of a segment match; in `unique` every segment has one tuple.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from punctuated.errors import StreamError
from punctuated.model.arguments import text

LARGEST_SIZE = 10**9  # tuples, keys or segments: more would not fit into memory
FORMS = (
    "unique, unique-[order], cluster-[order]-[size], punct-[order]-[segment]-[match percentage], uniform-[keys], "
    "where [order] is asc, desc or random"
)
_ORDERED = re.compile(r"(unique)(?:-(asc|desc|random))?|(?:(cluster)-(asc|desc|random)-(\d+))")
_PUNCT = re.compile(r"punct(?:uation)?-(asc|desc|random)-(\d+)-(\d+)")
_UNIFORM = re.compile(r"uniform-(\d+)")


@dataclass(frozen=True, slots=True)
class SegmentedArrival:
    """A stream of segments, each ended by the punctuation of its value."""

    order: str  # of the punctuated values: asc, desc or random
    size: int  # mean number of tuples in a segment; exactly 1 if `fixed`
    match: int | None  # mean percentage of a segment's tuples that have its value; None: always all of them
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class UniformArrival:
    """Keys drawn uniformly from `0 … keys - 1`; never punctuated."""

    keys: int


ArrivalPattern = SegmentedArrival | UniformArrival


def parse_arrival(name: str) -> ArrivalPattern:
    """The arrival pattern of that name.

    >>> parse_arrival("punct-asc-100-40")
    SegmentedArrival(order='asc', size=100, match=40, fixed=False)
    >>> parse_arrival("uniform-360000")
    UniformArrival(keys=360000)
    """
    text(name, "name", StreamError, f"an arrival pattern ({FORMS})")
    if match := _ORDERED.fullmatch(name):
        unique, unique_order, _, cluster_order, size = match.groups()
        ordered = SegmentedArrival(unique_order or "asc", 1, None, True)
        pattern = ordered if unique else SegmentedArrival(cluster_order, _number(name, size), None)
    elif match := _PUNCT.fullmatch(name):
        pattern = SegmentedArrival(match[1], _number(name, match[2]), _number(name, match[3]))
    elif match := _UNIFORM.fullmatch(name):
        keys = _number(name, match[1])
        if keys < 1:
            raise StreamError(f"arrival pattern {name!r}: give at least one key")
        return UniformArrival(keys)
    else:
        raise StreamError(f"unknown arrival pattern {name!r}; known: {FORMS}")
    if pattern.size < 1:
        raise StreamError(f"arrival pattern {name!r}: the size must be 1 or more")
    if pattern.match is not None and pattern.match > 100:
        raise StreamError(f"arrival pattern {name!r}: the match percentage must be between 0 and 100")
    return pattern


def _number(name: str, digits: str) -> int:
    if len(digits) > len(str(LARGEST_SIZE)) or int(digits) > LARGEST_SIZE:
        raise StreamError(f"arrival pattern {name!r}: its numbers must not be above {LARGEST_SIZE}")
    return int(digits)


def draw_keys(
    pattern: ArrivalPattern, n: int, ahead: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The keys of `n` tuples, and which tuples are the last of their key, followed by a punctuation."""
    if isinstance(pattern, UniformArrival):
        return rng.integers(0, pattern.keys, n), np.zeros(n, dtype=np.bool_)
    sizes = _draw_sizes(pattern, n, rng)
    ends = np.cumsum(sizes)
    last = np.zeros(n, dtype=np.bool_)
    last[ends[ends <= n] - 1] = True
    segment = np.repeat(np.arange(len(sizes)), sizes)
    if pattern.match is None:
        position, ahead = segment, 0
    else:
        position = _scatter(pattern.match, segment, sizes, ahead, rng)
    return _values_in_order(pattern, n, len(sizes), ahead, rng)[position[:n]], last


def _draw_sizes(pattern: SegmentedArrival, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Sizes of the fewest segments that hold `n` tuples."""
    if pattern.fixed:
        return np.ones(n, dtype=np.int64)
    sizes = np.zeros(0, dtype=np.int64)
    while sizes.sum() < n:
        more = rng.poisson(pattern.size, _most_segments(pattern, n))
        sizes = np.concatenate([sizes, np.maximum(more, 1)])
    return sizes[: np.searchsorted(np.cumsum(sizes), n) + 1] if n else sizes


def _most_segments(pattern: SegmentedArrival, n: int) -> int:
    """An upper bound for the number of segments: six standard deviations above its mean."""
    return n if pattern.fixed else math.ceil((n + 6 * math.sqrt(n)) / pattern.size) + 1


def _scatter(
    match: int, segment: NDArray[np.int64], sizes: NDArray[np.int64], ahead: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The position of each tuple's key in the order of punctuated values: its segment, or one of the next `ahead`."""
    share = np.minimum(rng.poisson(match, len(sizes)), 100) / 100
    n_matching = np.maximum(np.rint(sizes * share).astype(np.int64), 1)
    starts = np.cumsum(sizes) - sizes
    lottery = segment + rng.uniform(0.25, 0.75, len(segment))
    lottery[starts + sizes - 1] = segment[starts + sizes - 1]  # the end of a segment always wins
    shuffled = np.argsort(lottery)
    turn = np.arange(len(segment)) - np.repeat(starts, sizes)
    others = shuffled[turn >= np.repeat(n_matching, sizes)]
    position = segment.copy()
    position[others] += rng.integers(1, ahead + 1, len(others))
    return position


def _values_in_order(
    pattern: SegmentedArrival, n: int, n_segments: int, ahead: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The punctuated values in order, then those that would be punctuated if the stream went on.

    `desc` starts at a value that depends only on `n`, so that two streams of the same length meet.
    """
    values = np.arange(n_segments + ahead)
    if pattern.order == "desc":
        return max(_most_segments(pattern, n) + ahead, len(values)) - 1 - values
    if pattern.order == "random":
        values[:n_segments] = rng.permutation(n_segments)
    return values
