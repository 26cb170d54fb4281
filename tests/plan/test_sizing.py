"""The size of a query: each figure by hand, and how it moves with what it depends on."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.errors import CostError, PunctuatedError
from punctuated.model.spec import MOST_BUCKETS
from punctuated.plan.sizing import PUNCTUATION_BYTES, QuerySize, size_query

BASE: dict[str, Any] = {
    "rates": (100, 200),
    "windows": ("15 s", "10 s"),
    "distinct_values": (150, 300),
    "punctuation_rates": (1.5, 5),
    "tuple_bytes": (100, 50),
}


def sized(**changes: Any) -> QuerySize:
    return size_query(**(BASE | changes))


def test_state_is_what_windows_hold_less_what_punctuations_remove() -> None:
    """75 of 150 values are ended in 15 s, 5 a second: those open are so for 15 s; 277.5 of 300, 1.5 a second: 185 s."""
    size = sized()
    assert size.lifetimes_s == pytest.approx((15, 185))
    assert size.tuples == pytest.approx((100 * 15 * (1 - math.exp(-1)), 200 * 185 * (1 - math.exp(-10 / 185))))
    assert size.tuple_bytes == pytest.approx((size.tuples[0] * 100, size.tuples[1] * 50))


def test_a_lifetime_that_is_known_counts() -> None:
    """10 auctions open and close in a second, each after 5 minutes; no bid is ever stored."""
    size = size_query(
        rates=(10, 90),
        windows=("12 hours", None),
        distinct_values=(432_000, 432_000),
        punctuation_rates=(10, 10),
        lifetimes=("5 minutes", 0),
        elapsed="12 hours",
    )
    assert size.tuples == pytest.approx((3000, 0)) and size.lifetimes_s == (300, 0)


def test_values_that_are_never_ended_wait_for_their_window() -> None:
    size = sized(lifetimes=("3 s", None))  # half of the values are ended in 15 s
    assert size.tuples[0] == pytest.approx(100 * (0.5 * 3 * (1 - math.exp(-5)) + 0.5 * 15))


def test_where_as_many_values_end_as_come_nothing_is_known_of_their_lifetimes() -> None:
    for punctuation_rates in ((30, 10), (100, 100)):
        size = sized(punctuation_rates=punctuation_rates)
        assert size.tuples == (1500, 2000) and size.lifetimes_s == (None, None)


@given(st.floats(0, 1e3), st.floats(1, 1e4), st.floats(0, 1e3), st.floats(0, 1e4), st.none() | st.integers(0, 10**9))
def test_no_state_is_planned_beyond_its_window(
    rate: float, values: float, ended: float, seconds: float, lifetime: int | None
) -> None:
    window = round(seconds * 1e6)
    given_lifetime = None if ended == 0 else lifetime
    size = size_query(
        rates=(rate, rate),
        windows=(window, window),
        distinct_values=(values, values),
        punctuation_rates=(ended, ended),
        lifetimes=(given_lifetime, None),
        throughput=1e5,
    )
    for tuples in size.tuples:
        assert 0 <= tuples <= rate * window / 1e6 * (1 + 1e-9)


def test_without_punctuations_windows_are_full() -> None:
    """PW-48."""
    assert sized(punctuation_rates=(0, 0)).tuples == (1500, 2000)


def test_a_stream_without_a_window_grows_with_time() -> None:
    size = sized(windows=(None, "10 s"), elapsed="100 s", distinct_values=(1e9, 1e9), punctuation_rates=(0, 0))
    assert size.tuples == (10_000, 2000)


def test_before_the_windows_are_full_there_is_less() -> None:
    assert sized(elapsed="5 s", punctuation_rates=(0, 0)).tuples == (500, 1000)


def test_results_are_those_of_the_full_windows() -> None:
    """Eq. (12): (100 * 2000 + 200 * 1500) / 300, however much punctuations purge."""
    for punctuation_rates in ((0, 0), (1.5, 5), (100, 100)):
        assert sized(punctuation_rates=punctuation_rates).results_per_s == pytest.approx(500_000 / 300)
    assert sized(selectivity=0.01).results_per_s == pytest.approx(5000)


def test_cpu_by_the_built_in_times() -> None:
    size = sized(selectivity=0.01, rates=(1e6, 2e6), windows=("15 s", "10 s"))
    results = 0.01 * (1e6 * 2e7 + 2e6 * 1.5e7)
    assert size.cpu_s == pytest.approx(3e6 * 3.8e-6 + results * 0.24e-6)
    assert size.cores_needed == math.ceil(size.cpu_s)


def test_cpu_by_a_measured_throughput() -> None:
    size = sized(rates=(3e6, 4e6), throughput=250_000, cores=40)
    assert (size.cpu_s, size.cores_needed, size.load) == (28, 28, 0.7)


def test_load_is_unknown_without_cores() -> None:
    assert sized().load is None


def test_an_idle_query_needs_a_core_and_a_bucket() -> None:
    size = sized(rates=(0, 0), punctuation_rates=(0, 0))
    assert (size.cpu_s, size.cores_needed, size.buckets, size.memory_bytes) == (0, 1, 1, 0)


def test_punctuations_are_remembered_up_to_the_cap_of_every_bucket() -> None:
    assert PUNCTUATION_BYTES == 56
    few = sized()
    assert few.punctuations == pytest.approx(6.5 * 15)
    assert few.punctuation_bytes == pytest.approx(6.5 * 15 * 56)
    assert few.memory_bytes == pytest.approx(sum(few.tuple_bytes) + 6.5 * 15 * 56)
    capped = sized(max_punctuations=10)
    assert (capped.buckets, capped.punctuations) == (1, 10)
    spread = sized(max_punctuations=10, throughput=100)  # three cores, so four buckets
    assert (spread.buckets, spread.punctuations) == (4, 40)


def test_buckets_are_the_fewest_that_fit() -> None:
    """192,000 bytes of state in all, and punctuations."""
    assert sized(bucket_memory="1 MiB").buckets == 1
    assert sized(bucket_memory=100_000).buckets == 2
    assert sized(bucket_memory=80_000).buckets == 4


def test_every_core_has_a_bucket() -> None:
    assert sized(throughput=50).buckets == 8  # six cores


def test_the_most_buckets_are_those_of_a_join_on_spark() -> None:
    assert sized(throughput=0.01).buckets == MOST_BUCKETS  # 30,000 cores


def test_millions_of_tuples_per_second() -> None:
    size = size_query(
        rates=(5e6, 5e6),
        windows=("1 hour", "10 min"),
        distinct_values=(1e9, 1e9),
        punctuation_rates=(0, 100_000),
        bucket_memory="4 GiB",
    )
    # 640 of 1,000 million values are open after an hour, and 100,000 end in a second.
    assert size.tuples == pytest.approx((5e6 * 6400 * (1 - math.exp(-3600 / 6400)), 5e6 * 600))
    assert size.bucket_bytes <= 4 << 30 < 2 * size.bucket_bytes


@given(
    st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)),
    st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
    st.tuples(st.floats(0, 1e4), st.floats(0, 1e4)),
    st.tuples(st.floats(1, 1e9), st.floats(1, 1e9)),
)
def test_a_bucket_stays_below_its_memory(
    rates: tuple[float, float], windows: tuple[int, int], ended: tuple[float, float], values: tuple[float, float]
) -> None:
    size = size_query(rates=rates, windows=windows, punctuation_rates=ended, distinct_values=values, throughput=1e5)
    assert size.bucket_bytes <= 1 << 30
    assert size.buckets * size.bucket_bytes == pytest.approx(size.memory_bytes)
    assert size.buckets & (size.buckets - 1) == 0
    assert size.buckets >= size.cores_needed
    half = size.bucket_bytes * 2 if size.buckets > 1 else math.inf  # with half as many buckets
    assert half > 1 << 30 or size.buckets < 2 * size.cores_needed


BAD_INPUT: list[tuple[Callable[[], object], str]] = [
    (lambda: sized(rates=(-1, 1)), "rates[0]=-1"),
    (lambda: sized(rates=(1, math.nan)), "rates[1]=nan"),
    (lambda: sized(windows=("1 hour",)), "give two"),
    (lambda: sized(windows=("-1 hour", "1 hour")), "windows=-3600"),
    (lambda: sized(windows=("1 hour", None)), "give elapsed, "),
    (lambda: sized(distinct_values=(0, 5)), "distinct_left=0"),
    (lambda: sized(punctuation_rates=(0, -5)), "punctuation_rates[1]=-5"),
    (lambda: sized(lifetimes=("-1 s", None)), "lifetimes=-1"),
    (lambda: sized(lifetimes=("1 s",)), "lifetimes=('1 s',): give two"),
    (lambda: sized(lifetimes=(None, "1 s"), punctuation_rates=(0, 5)), "give its punctuation rate"),
    (lambda: sized(tuple_bytes=-5), "tuple_bytes=-5"),
    (lambda: sized(max_punctuations=0), "max_punctuations=0"),
    (lambda: sized(cores=0), "cores=0"),
    (lambda: sized(throughput=0), "throughput=0"),
    (lambda: sized(selectivity=-1), "selectivity=-1"),
    (lambda: sized(bucket_memory=100), "with 1024 buckets"),
]


@pytest.mark.parametrize(("call", "words"), BAD_INPUT)
def test_bad_input_is_refused_with_its_name(call: Callable[[], object], words: str) -> None:
    with pytest.raises(CostError) as refusal:
        call()
    assert words in str(refusal.value)


@pytest.mark.parametrize("changes", [{"windows": ("soon", "1 s")}, {"bucket_memory": "much"}, {"elapsed": "a while"}])
def test_texts_that_cannot_be_read_are_refused(changes: dict[str, Any]) -> None:
    (text,) = [each for value in changes.values() for each in ([value] if isinstance(value, str) else value[:1])]
    with pytest.raises(PunctuatedError, match=text):
        sized(**changes)
