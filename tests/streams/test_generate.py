"""Generated streams keep their promises and have the statistics that their names say."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from punctuated.errors import PunctuatedError, StreamError
from punctuated.model.pattern import WILDCARD, Constant
from punctuated.model.pattern_text import parse_punctuation
from punctuated.streams import generate

ORDERS = st.sampled_from(["asc", "desc", "random"])
SIZES = st.integers(1, 12)
NAMES = st.one_of(
    st.builds("unique-{}".format, ORDERS),
    st.builds("cluster-{}-{}".format, ORDERS, SIZES),
    st.builds("punct-{}-{}-{}".format, ORDERS, SIZES, st.integers(0, 100)),
    st.builds("uniform-{}".format, SIZES),
)
SCHEMA = pa.schema(
    {"key": pa.int64(), "ts": pa.timestamp("us", tz="UTC"), "val": pa.int64(), "last": pa.bool_()}.items()
)


def ints(table: pa.Table, column: str) -> NDArray[np.int64]:
    values: NDArray[np.int64] = table[column].cast(pa.int64()).to_numpy()
    return values


def flags(table: pa.Table) -> NDArray[np.bool_]:
    values: NDArray[np.bool_] = table["last"].to_numpy()
    return values


@settings(deadline=None)
@given(NAMES, st.integers(0, 120), st.integers(0, 99), st.integers(1, 9))
def test_promises_are_kept(name: str, n: int, seed: int, ahead: int) -> None:
    table = generate(name, n, seed=seed, ahead=ahead, first_key=5)
    assert table.num_rows == n
    assert table.schema == SCHEMA
    keys, last = table["key"].to_pylist(), table["last"].to_pylist()
    over: set[int] = set()
    for key, is_last in zip(keys, last, strict=True):
        assert key >= 5
        assert key not in over
        if is_last:
            over.add(key)
    assert np.all(np.diff(ints(table, "ts")) >= 0)


@settings(deadline=None)
@given(NAMES, st.integers(0, 80), st.integers(0, 99))
def test_rows_and_flags_say_the_same(name: str, n: int, seed: int) -> None:
    flagged, mixed = generate(name, n, seed=seed), generate(name, n, seed=seed, punctuations="rows")
    rows: list[dict[str, Any]] = []
    for row in flagged.to_pylist():
        rows.append({**row, "pattern": None})
        if row["last"]:
            pattern = f"<{row['key']},*,*,*>"
            rows.append({"key": None, "ts": row["ts"], "val": None, "last": False, "pattern": pattern})
    assert mixed.to_pylist() == rows
    assert mixed.schema == SCHEMA.append(pa.field("pattern", pa.string()))


def test_pattern_rows_can_be_parsed() -> None:
    texts = generate("unique", 3, punctuations="rows")["pattern"].drop_null().to_pylist()
    assert [parse_punctuation(text, SCHEMA.types)[0] for text in texts] == [Constant(0), Constant(1), Constant(2)]
    assert parse_punctuation(texts[0], SCHEMA.types)[1:] == (WILDCARD,) * 3


def test_irrelevant_punctuations_come_as_often_but_end_nothing() -> None:
    plain = generate("punct-asc-10-40", 1000)
    table = generate("punct-asc-10-40", 1000, punctuations="irrelevant")
    texts = table["pattern"].drop_null().to_pylist()
    assert len(texts) == flags(plain).sum() == table.num_rows - 1000
    assert all(text.startswith("<-") for text in texts)
    assert len(set(texts)) == len(texts)
    assert not flags(table).any()
    assert (
        table.filter(table["pattern"].is_null()).select(["key", "ts", "val"]).equals(plain.select(["key", "ts", "val"]))
    )


def test_none_has_no_punctuations() -> None:
    table = generate("punct-asc-10-40", 1000, punctuations="none")
    assert not flags(table).any()
    assert table.schema == SCHEMA


def test_punctuated_segments_have_the_named_statistics() -> None:
    table = generate("punct-asc-100-40", 300_000, seed=3)
    keys, ends = ints(table, "key"), np.flatnonzero(flags(table))
    assert np.array_equal(keys[ends], np.arange(len(ends)))
    sizes = np.diff(ends, prepend=-1)
    assert sizes.mean() == pytest.approx(100, abs=1)
    assert sizes.var() == pytest.approx(100, rel=0.15)
    n = ends[-1] + 1
    segment = np.repeat(np.arange(len(ends)), sizes)
    lead = keys[:n] - segment
    assert (lead == 0).mean() == pytest.approx(0.40, abs=0.01)
    assert set(lead) == set(range(51))
    others = Counter(lead[lead > 0])
    assert max(others.values()) < 1.2 * min(others.values())
    # the matching tuples lie anywhere in their segment, not only at its end
    offset = (np.arange(n) - np.repeat(ends - sizes + 1, sizes)) / np.repeat(sizes, sizes)
    assert offset[lead == 0].mean() == pytest.approx(0.5, abs=0.02)


def test_match_percentage_varies_and_is_clipped() -> None:
    table = generate("punct-asc-1000-100", 300_000)
    keys, ends = ints(table, "key"), np.flatnonzero(flags(table))
    starts = np.concatenate([[0], ends[:-1] + 1])
    shares = np.array([np.mean(keys[a : b + 1] == keys[b]) for a, b in zip(starts, ends, strict=True)])
    assert shares.max() == 1
    assert shares.min() < 0.95
    assert flags(generate("punct-asc-10-0", 1000)).sum() > 80  # even then each value comes once


def test_clusters() -> None:
    table = generate("cluster-desc-20", 50_000)
    keys, last = ints(table, "key"), flags(table)
    changes = np.diff(keys) != 0
    assert np.array_equal(last[:-1], changes)
    assert np.all(np.diff(keys)[changes] == -1)
    assert np.diff(np.flatnonzero(last)).mean() == pytest.approx(20, abs=0.3)


def test_unique() -> None:
    assert ints(generate("unique", 4), "key").tolist() == [0, 1, 2, 3]
    assert ints(generate("unique-desc", 4), "key").tolist() == [3, 2, 1, 0]
    shuffled = ints(generate("unique-random", 100), "key")
    assert sorted(shuffled) == list(range(100))
    assert shuffled.tolist() != list(range(100))
    assert flags(generate("unique-random", 100)).all()


def test_uniform() -> None:
    table = generate("uniform-50", 20_000)
    counts = np.bincount(ints(table, "key"))
    assert len(counts) == 50
    assert counts.min() > 300
    assert not flags(table).any()


def test_random_order_permutes_the_values_of_ascending_order() -> None:
    ascending, shuffled = (generate(f"punct-{order}-10-40", 5000, seed=4) for order in ("asc", "random"))
    in_order, permuted = (ints(table, "key")[flags(table)] for table in (ascending, shuffled))
    assert len(np.setxor1d(in_order, permuted)) <= 2  # the cut-off last segment may carry another value
    assert not np.array_equal(in_order, permuted)
    assert ints(shuffled, "key").max() <= ints(ascending, "key").max() + 50


@pytest.mark.parametrize("name", ["punct-asc-10-40", "punct-desc-10-40", "cluster-desc-10"])
def test_streams_of_different_seeds_meet(name: str) -> None:
    one, two = generate(name, 5000, seed=1), generate(name, 5000, seed=2)
    assert not one.equals(two)
    assert ints(one, "key")[flags(one)][0] == ints(two, "key")[flags(two)][0]
    assert len(np.intersect1d(ints(one, "key"), ints(two, "key"))) > 400


def test_times() -> None:
    gaps = np.diff(ints(generate("unique", 100_000), "ts"))
    assert gaps.mean() == pytest.approx(10_000, rel=0.02)
    assert gaps.std() == pytest.approx(10_000, rel=0.02)
    assert np.diff(ints(generate("unique", 100_000, gap="2 s"), "ts")).mean() == pytest.approx(2_000_000, rel=0.02)
    noon = datetime(2003, 11, 10, 12, tzinfo=UTC)
    assert generate("unique", 1, gap=0, start=noon)["ts"].to_pylist() == [noon]
    assert generate("unique", 1, gap=0, start=noon.replace(tzinfo=None))["ts"].to_pylist() == [noon]


def test_same_arguments_same_table() -> None:
    assert generate("punct-random-10-40", 1000, seed=9).equals(generate("punct-random-10-40", 1000, seed=9))
    assert not generate("uniform-99", 1000, seed=9).equals(generate("uniform-99", 1000, seed=8))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "zipf-3"}, "unknown arrival pattern 'zipf-3'"),
        ({"n": -1}, "n=-1: give a whole number from 0"),
        ({"n": 10**12}, "give a whole number from 0 to 1,000,000,000"),
        ({"n": "3"}, "n='3': give a whole number"),
        ({"name": 5}, "name=5: give an arrival pattern"),
        ({"name": f"uniform-{2**70}"}, "its numbers must not be above"),
        ({"name": "cluster-asc-" + "9" * 5000}, "its numbers must not be above"),
        ({"seed": -1}, "seed=-1"),
        ({"start": 1.5}, "start=1.5"),
        ({"gap": 2**60}, "beyond the largest time"),
        ({"first_key": 2**63}, "first_key="),
        ({"ahead": 0}, "ahead=0"),
        ({"gap": "-1 s"}, "gap='-1 s'"),
        ({"punctuations": "some"}, "known: flag, rows, none, irrelevant"),
    ],
)
def test_errors(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StreamError, match=message) as caught:
        generate(**{"name": "unique", "n": 10, **changes})
    assert isinstance(caught.value, PunctuatedError)
