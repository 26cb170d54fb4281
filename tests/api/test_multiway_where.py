"""Predicates over more than two streams, with a key and without: equal to trying every combination."""

from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.errors import PredicateError, StreamError

WITHIN = 40


def tables(seed: int, n: int = 60) -> list[pa.Table]:
    random = np.random.default_rng(seed)
    return [
        pa.table(
            {
                "k": random.integers(0, 3, n),
                "ts": np.sort(random.integers(0, 300, n)),
                "v": pa.array(random.integers(0, 9, n), mask=random.random(n) < 0.1),
            }
        )
        for _ in range(3)
    ]


def streams(given: list[pa.Table], key: str | None) -> list[pt.TableStream]:
    return [pt.stream(table, name=name, key=key, time="ts") for name, table in zip("ABC", given, strict=True)]


def counted(results: pa.Table) -> Counter[tuple[int, ...]]:
    columns = [f"{stream}_{name}" for stream in "ABC" for name in ("ts", "v")]
    return Counter(zip(*(results[name].to_pylist() for name in columns), strict=True))


def tried(given: list[pa.Table], keyed: bool) -> Counter[tuple[int, ...]]:
    """A's value is below B's, and C's is their sum or more."""
    found: Counter[tuple[int, ...]] = Counter()
    for a, b, c in product(*(table.to_pylist() for table in given)):
        times, values = [[row[name] for row in (a, b, c)] for name in ("ts", "v")]
        near = max(times) - min(times) <= WITHIN and (not keyed or a["k"] == b["k"] == c["k"])
        if near and None not in values and values[0] < values[1] and values[2] >= values[0] + values[1]:
            found[tuple(each[name] for each in (a, b, c) for name in ("ts", "v"))] += 1
    return found


LADDER = (pt.column("A", "v") < pt.column("B", "v")) & (
    pt.column("C", "v") >= pt.column("A", "v") + pt.column("B", "v")
)


@pytest.mark.parametrize("algorithm", ["auto", "hw", "nlw", "mw", "ripple"])
@pytest.mark.parametrize("key", ["k", None])
def test_every_combination_that_holds_comes_out_once(key: str | None, algorithm: str) -> None:
    given = tables(seed=3)
    joined = pt.join(*streams(given, key), within=WITHIN, where=LADDER, algorithm=algorithm)
    expected = tried(given, keyed=key is not None)
    assert counted(joined.results) == expected
    assert sum(expected.values()) > 20


def test_the_plan_says_what_holds_and_how_it_is_found() -> None:
    plan = pt.join(*streams(tables(1), None), within=WITHIN, where=LADDER).explain()
    assert "where: ((A.v < B.v) & (C.v >= (A.v + B.v)))" in plan
    assert "algorithm: mw" in plan


def test_two_streams_may_go_by_their_names() -> None:
    a, b, _ = streams(tables(2), "k")
    by_name = pt.join(a, b, within=WITHIN, where=pt.column("A", "v") < pt.column("B", "v"))
    by_side = pt.join(a, b, within=WITHIN, where=pt.left("v") < pt.right("v"))
    assert by_name.results.equals(by_side.results)
    assert len(by_name.results)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (pt.column("D", "v") > 1, "a stream 'D'; the streams are: A, B, C"),
        (pt.column("A", "w") > 1, "A has no column 'w'; it has: k, ts, v"),
        (pt.left("v") > 1, r"write pt\.column\('A', 'v'\)"),
        (pt.column("A", "v"), "not true or false"),
    ],
)
def test_a_predicate_that_cannot_be_says_what_to_change(where: object, message: str) -> None:
    with pytest.raises(PredicateError, match=message):
        pt.join(*streams(tables(1), "k"), within=WITHIN, where=where)  # type: ignore[call-overload]


def test_without_a_key_there_must_be_a_predicate() -> None:
    with pytest.raises(StreamError, match="neither A nor B nor C has a key, and there is no predicate"):
        pt.join(*streams(tables(1), None), within=WITHIN)


def test_a_stream_without_a_name_cannot_be_spoken_of() -> None:
    with pytest.raises(PredicateError, match="give the name of a stream"):
        pt.column("", "v")
