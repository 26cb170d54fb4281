"""How large a query will be: tuples and bytes of state, results, cores and buckets, from rates and windows.

States and results are those of `plan.cost.cardinality`: a state holds what its window holds, less what punctuations
purge, and results follow Eq. (12) of Kang et al. This module adds bytes and CPU times, and divides them among buckets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.errors import CostError
from punctuated.kernels import layout as lay
from punctuated.model.memory import parse_size, show_size
from punctuated.model.spec import DEFAULT_MAX_PUNCTUATIONS, MOST_BUCKETS
from punctuated.model.window import Duration, parse_duration
from punctuated.plan.cost.cardinality import WHOLE_WINDOW, Lifetime, output_rate, window_state
from punctuated.plan.cost.cardinality import selectivity as selectivity_of
from punctuated.plan.cost.inputs import Sides, amount, both_sides, positive, sides

# CPU times of whole queries: two busy cores over the rates of docs/benchmarks.md, so sources, the exchange and the
# state store are in them. The empty pipeline takes 2.4 us a row; W2, which stores every tuple, 1.4 us more; W1, with 23
# results a row, 5.6 us more for these.
SPARK_ROW_S = 2.4e-6  # to bring a row through Spark's pipeline into Python
TUPLE_S = 1.4e-6  # to join, store and forget a tuple, and to write it to the state store
RESULT_ROW_S = 0.24e-6  # to find a pair and hand it to Spark as a row

TUPLE_BYTES = 85  # measured on W2, columns and index included (docs/decisions/001)
INDEX_BYTES = TUPLE_BYTES - 24  # without the columns
PUNCTUATION_BYTES = lay.remembered_type(2).itemsize  # of an ended value


@dataclass(frozen=True)
class QuerySize:
    """What a query will need; pairs are of the left and the right stream."""

    tuples: Sides  # in state
    lifetimes_s: tuple[float | None, float | None]  # given or estimated; None: the whole window
    tuple_bytes: Sides  # of all tuples together
    punctuations: float  # remembered in all buckets
    punctuation_bytes: float
    results_per_s: float
    cpu_s: float  # seconds of CPU per second of input
    cores_needed: int
    load: float | None  # of the given cores; 1: all of them are busy all the time
    buckets: int
    bucket_bytes: float  # of one bucket, with even keys

    @property
    def memory_bytes(self) -> float:
        """Bytes of all buckets: stored tuples and remembered punctuations."""
        return sum(self.tuple_bytes) + self.punctuation_bytes


def size_query(
    *,
    rates: Sequence[float],
    windows: Sequence[Duration | None],
    distinct_values: Sequence[float],
    punctuation_rates: Sequence[float] = (0, 0),
    lifetimes: Sequence[Duration | None] = (None, None),
    elapsed: Duration | None = None,
    selectivity: float | None = None,
    tuple_bytes: float | Sequence[float] = TUPLE_BYTES,
    max_punctuations: int = DEFAULT_MAX_PUNCTUATIONS,
    bucket_memory: int | str = "1 GiB",
    cores: float | None = None,
    throughput: float | None = None,
) -> QuerySize:
    """Predicts state, memory, results and CPU of a join on Spark.

    Args:
        rates: Tuples per second of both streams.
        windows: Windows of both streams, such as `"1 hour"`; `None` for a stream without one.
        distinct_values: Distinct join values that each stream brings within `elapsed`.
        punctuation_rates: Punctuations per second of both streams, of values that the other one brings, too.
        lifetimes: How long a tuple of each stream waits on average until the other stream ends its value: `"5 minutes"`
            for auctions that are open for so long, 0 for bids on them, since an auction that opens once is over as a
            value when it has opened. By default it is estimated: values that came and have not been ended are open. If
            as many are ended as come, this tells nothing, and the state is planned as if none were.
        elapsed: Time since the start; by default the longer window, when windows are full for the first time.
        selectivity: Share of all pairs within the windows that are results; by default one over the larger number of
            distinct values, which is too low if `elapsed` is longer than the windows and values come and go.
        tuple_bytes: Bytes of a stored tuple, of each stream or of both.
        max_punctuations: Punctuations that a bucket remembers at most.
        bucket_memory: What a bucket may hold, in bytes or as text.
        cores: Cores at hand; says how busy they will be.
        throughput: Tuples per second that a core was measured to process, instead of the CPU times of this module,
            which are of narrow rows from Parquet files into no sink.

    Example:
        >>> size = size_query(rates=(1e6, 1e6), windows=("10 s", "10 s"), distinct_values=(1e7, 1e7))
        >>> size.tuples, size.results_per_s, round(size.cpu_s, 3), size.cores_needed, size.buckets
        ((10000000.0, 10000000.0), 2000000.0, 8.08, 9, 16)
    """
    ours, values = sides(rates, "rates"), sides(distinct_values, "distinct_values")
    ended = sides(punctuation_rates, "punctuation_rates")
    spans, elapsed_s = _spans(windows, elapsed)
    left, right = _lifetimes(lifetimes, ended, elapsed_s, values)
    tuples = left.state(ours[0], spans[0]), right.state(ours[1], spans[1])
    full = window_state(ours[0], spans[0]), window_state(ours[1], spans[1])
    # A purged tuple has met all its matches (PW-12), so the results are those of the full windows.
    sigma = selectivity_of(*values) if selectivity is None else amount(selectivity, "selectivity")
    results = output_rate(rates=ours, windows=full, selectivity=sigma)
    cpu_s = _cpu(sum(ours), results, throughput)
    cores_needed = max(1, math.ceil(cpu_s))
    each = both_sides(tuple_bytes, "tuple_bytes")
    contents = _Contents(
        stored=(tuples[0] * each[0], tuples[1] * each[1]),
        endings=sum(ended) * elapsed_s,
        cap=positive(max_punctuations, "max_punctuations"),
    )
    buckets = _buckets(contents, cores_needed, parse_size(bucket_memory, "bucket_memory"))
    punctuations = buckets * contents.endings_in(buckets)
    return QuerySize(
        tuples=tuples,
        lifetimes_s=(_known_mean(left), _known_mean(right)),
        tuple_bytes=contents.stored,
        punctuations=punctuations,
        punctuation_bytes=punctuations * PUNCTUATION_BYTES,
        results_per_s=results,
        cpu_s=cpu_s,
        cores_needed=cores_needed,
        load=None if cores is None else cpu_s / positive(cores, "cores"),
        buckets=buckets,
        bucket_bytes=contents.bytes_in(buckets),
    )


@dataclass(frozen=True)
class _Contents:
    """What a query stores and remembers, before it is divided among buckets."""

    stored: Sides
    endings: float  # an upper bound: a value that both streams end is remembered once
    cap: float

    def endings_in(self, buckets: int) -> float:
        """Every bucket has a memory of punctuations of its own, with the same cap."""
        return min(self.cap, self.endings / buckets)

    def bytes_in(self, buckets: int) -> float:
        return sum(self.stored) / buckets + self.endings_in(buckets) * PUNCTUATION_BYTES


def _spans(windows: Sequence[Duration | None], elapsed: Duration | None) -> tuple[Sides, float]:
    """For how many seconds each stream has gathered tuples, and how many seconds have elapsed."""
    if len(windows) != 2:
        raise CostError(f"windows={windows!r}: give two, of the left and of the right stream")
    left, right = (None if window is None else _seconds(window, "windows") for window in windows)
    if elapsed is not None:
        elapsed_s = _seconds(elapsed, "elapsed")
    elif left is not None and right is not None:
        elapsed_s = max(left, right)
    else:
        raise CostError("a stream without a window is remembered for ever: give elapsed, the time to size it for")
    return (_shorter(left, elapsed_s), _shorter(right, elapsed_s)), elapsed_s


def _shorter(window_s: float | None, elapsed_s: float) -> float:
    return elapsed_s if window_s is None else min(window_s, elapsed_s)


def _seconds(duration: Duration, name: str) -> float:
    return amount(parse_duration(duration) / 1e6, name)


def _lifetimes(
    lifetimes: Sequence[Duration | None], ended: Sides, elapsed_s: float, values: Sides
) -> tuple[Lifetime, Lifetime]:
    """The lifetimes of both streams' tuples; the punctuations of one stream end the values of the other."""
    if len(lifetimes) != 2:
        raise CostError(f"lifetimes={lifetimes!r}: give two, of the left and of the right stream")
    left, right = (None if each is None else _seconds(each, "lifetimes") for each in lifetimes)
    return _lifetime(left, ended[1], elapsed_s, values[0]), _lifetime(right, ended[0], elapsed_s, values[1])


def _lifetime(lifetime_s: float | None, ended_per_s: float, elapsed_s: float, values: float) -> Lifetime:
    if ended_per_s == 0:
        if lifetime_s is not None:
            raise CostError("a lifetime ends by a punctuation of the other stream: give its punctuation rate, too")
        return WHOLE_WINDOW
    if lifetime_s is not None:
        return Lifetime(lifetime_s, ended=min(1.0, ended_per_s * elapsed_s / values) if values else 1.0)
    return Lifetime.from_counts(values, ended_per_s, elapsed_s)


def _known_mean(lifetime: Lifetime) -> float | None:
    return lifetime.mean_s if lifetime.ended else None


def _cpu(tuples_per_s: float, results_per_s: float, throughput: float | None) -> float:
    """Seconds of CPU per second of input."""
    if throughput is not None:
        return tuples_per_s / positive(throughput, "throughput")
    return tuples_per_s * (TUPLE_S + SPARK_ROW_S) + results_per_s * RESULT_ROW_S


def _buckets(contents: _Contents, cores: int, bucket_memory: int) -> int:
    """The smallest power of two that gives every core a bucket and keeps each below its memory."""
    buckets = 1
    while buckets < min(cores, MOST_BUCKETS) or contents.bytes_in(buckets) > bucket_memory:
        if buckets == MOST_BUCKETS:
            raise CostError(
                f"with {MOST_BUCKETS} buckets, the most there can be, each still holds "
                f"{show_size(int(contents.bytes_in(buckets)))}, more than bucket_memory={show_size(bucket_memory)}: "
                "give it more, or make windows narrower"
            )
        buckets *= 2
    return buckets
