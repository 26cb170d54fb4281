"""Predicates beside a key and instead of one, by every structure that serves them, against plain loops."""

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare

Rows = list[dict[str, Any]]
START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
VALUES: dict[str, tuple[pa.DataType, Callable[[int], Any], Any, Any]] = {
    "int32": (pa.int32(), lambda i: i - 50, -3, 2),
    "int64": (pa.int64(), lambda i: i * 1_000_000_007, -3_000_000_021, 0),
    "float64": (pa.float64(), lambda i: i / 10, -0.3, 0.3),
    "float32": (pa.float32(), lambda i: i * 0.5, -1.5, 1.5),
    "timestamp": (pa.timestamp("us", "UTC"), lambda i: START + dt.timedelta(minutes=i), "-3 minutes", "2 minutes"),
    "date": (pa.date32(), lambda i: dt.date(2024, 1, 1) + dt.timedelta(days=i), "-3 days", "2 days"),
}


def rows(seed: int, make: Callable[[int], Any], n: int = 150) -> Rows:
    drawn = random.Random(seed)
    times = sorted(drawn.randint(0, 300) for _ in range(n))
    return [{"k": drawn.randint(0, 3), "ts": ts, "v": _seldom(drawn, make(drawn.randint(0, 60)))} for ts in times]


def _seldom(drawn: random.Random, value: Any) -> Any:
    return None if drawn.random() < 0.05 else value


def stream(data: Rows, name: str, dtype: pa.DataType, key: str | None, **options: Any) -> pt.TableStream:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", dtype)])
    table = pa.Table.from_pylist(data, schema=schema)
    return declare([table[:60], table[60:]], name=name, key=key, time="ts", **({"window": 20} | options))


def matching(a: Rows, b: Rows, decide: Callable[[Any, Any], bool], key: str | None) -> Counter[Any]:
    """All pairs within 20 of each other, by plain loops."""
    return Counter(
        (x["ts"], x["v"], y["ts"], y["v"])
        for x in a
        for y in b
        if abs(x["ts"] - y["ts"]) <= 20 and (key is None or x["k"] == y["k"])
        if x["v"] is not None and y["v"] is not None and decide(x["v"], y["v"])
    )


def found(joined: pt.Join) -> Counter[Any]:
    return Counter(
        tuple(row.values()) for row in joined.results.select(["ts_left", "v_left", "ts_right", "v_right"]).to_pylist()
    )


def _distance(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    number, unit = value.split()
    return dt.timedelta(**{unit: int(number)})


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("algorithm", ["auto", "TT", "BB", "NN", "TB", "NT"])
@pytest.mark.parametrize("kind", VALUES)
def test_bands(kind: str, algorithm: str, key: str | None) -> None:
    dtype, make, low, high = VALUES[kind]
    a, b = rows(1, make), rows(2, make)
    if kind == "float32":
        a, b = (
            [row | {"v": None if row["v"] is None else float(np.float32(row["v"]))} for row in side] for side in (a, b)
        )
    joined = pt.join(
        stream(a, "A", dtype, key), stream(b, "B", dtype, key), where=pt.band("v", low, high), algorithm=algorithm
    )
    wanted = matching(a, b, lambda x, y: x + _distance(low) <= y <= x + _distance(high), key)
    assert wanted
    assert found(joined) == wanted


@pytest.mark.parametrize("algorithm", ["auto", "TT", "BN", "NN"])
def test_comparisons_of_floats_with_nan_and_zeros(algorithm: str) -> None:
    values = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.5, -1.5]
    a, b = rows(1, lambda i: values[i % 7]), rows(2, lambda i: values[i % 7])
    dtype = pa.float64()
    for where, decide in (
        (pt.left("v") >= pt.right("v"), lambda x, y: x >= y),
        (pt.left("v") < pt.right("v"), lambda x, y: x < y),
        (pt.left("v") == pt.right("v"), lambda x, y: x == y),
    ):
        joined = pt.join(stream(a, "A", dtype, None), stream(b, "B", dtype, None), where=where, algorithm=algorithm)
        seen = Counter({tuple(map(str, pair)): n for pair, n in found(joined).items()})
        assert seen == _as_text(matching(a, b, decide, None))


@pytest.mark.parametrize("algorithm", ["TT", "BB", "NN", "NT"])
def test_bands_at_the_limits_of_integers(algorithm: str) -> None:
    limits = [2**63 - 1, 2**63 - 3, 2**63 - 9, 0, -(2**63), 3 - 2**63, 9 - 2**63, None]
    tables = [pa.table({"v": pa.array(limits, pa.int64()), "ts": [0] * len(limits)}) for _ in range(2)]
    for low, high in ((-5, 5), (1, 5), (-(2**63), 0)):
        streams = [pt.stream(table, name=n, time="ts", window=9) for table, n in zip(tables, "AB", strict=True)]
        results = pt.join(*streams, where=pt.band("v", low, high), algorithm=algorithm).results
        known = [each for each in limits if each is not None]
        wanted = sorted((a, b) for a in known for b in known if a + low <= b <= a + high)
        assert sorted(zip(results["v_left"].to_pylist(), results["v_right"].to_pylist(), strict=True)) == wanted


def _as_text(pairs: Counter[Any]) -> Counter[Any]:
    texts: Counter[Any] = Counter()
    for pair, n in pairs.items():
        texts[tuple(map(str, pair))] += n
    return texts


def test_structures_change_while_rates_shift() -> None:
    """First the right stream is fast, then the left one; the results are those of nested loops."""
    drawn = np.random.default_rng(0)
    fast, slow = 20_000, 20
    tables: list[list[pa.Table]] = [[], []]
    for batch in range(6):
        for side in range(2):
            n = fast if (side == 1) == (batch < 3) else slow
            ts = np.sort(drawn.integers(batch * 1_000_000, (batch + 1) * 1_000_000, n))
            tables[side].append(pa.table({"ts": ts, "v": drawn.integers(0, 1_000, n)}))
    joins = [
        pt.join(
            pt.stream(tables[0], name="A", time="ts", window=900_000),
            pt.stream(tables[1], name="B", time="ts", window=900_000),
            where=pt.band("v", 0, 1),
            algorithm=algorithm,
        )
        for algorithm in ("auto", "NN")
    ]
    assert found(joins[0]) == found(joins[1])
    assert len(set(joins[0].structures)) > 1


A, B = (pa.table({"k": [1], "ts": [1], "v": [1], "s": ["x"]}) for _ in range(2))


def made(**options: Any) -> Any:
    streams: dict[str, Any] = {"key": None, "time": "ts", "window": 10}
    return pt.join(pt.stream(A, name="A", **streams), pt.stream(B, name="B", **streams), **options)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({}, pt.StreamError, "no predicate: give pt.stream key=, or pt.join where="),
        ({"where": pt.band("s", 1, 2)}, pt.PredicateError, "cast one of the columns"),
        ({"where": pt.band("v", 1, 2), "algorithm": "XY"}, pt.AlgorithmError, "unknown algorithm 'XY'"),
        ({"where": pt.band("v", 1, 2), "algorithm": "HT"}, pt.AlgorithmError, "without a key use T, B or N"),
        ({"where": pt.left("v") * pt.right("v") > 1, "algorithm": "TT"}, pt.AlgorithmError, "use N"),
        ({"where": pt.band("v", 1, 2), "algorithm": "pwjoin"}, pt.AlgorithmError, "needs a key"),
        ({"where": pt.band("v", 1, 2), "node_size": 1}, pt.AlgorithmError, "node_size=1: give a whole number from 2"),
        (
            {"where": pt.band("v", 1, 2), "bucket_size": 0},
            pt.AlgorithmError,
            "bucket_size=0: give a whole number from 1",
        ),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        made(**options)


def test_an_empty_band() -> None:
    with pytest.raises(pt.PredicateError, match="the smaller distance first"):
        pt.band("v", 2, 1)


def test_nothing_can_end_a_key_that_is_not_there() -> None:
    with pytest.raises(pt.StreamError, match="no key that unique could end"):
        pt.stream(A, name="A", time="ts", punctuations=pt.unique())


def test_a_pair_takes_no_punctuations() -> None:
    streams = [
        pt.stream(t, name=n, key="k", time="ts", window=1, punctuations=pt.unique()) for t, n in ((A, "A"), (B, "B"))
    ]
    with pytest.raises(pt.AlgorithmError, match="'A' is punctuated"):
        pt.join(streams[0], streams[1], algorithm="HH")
