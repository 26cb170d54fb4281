"""The results of a join as a stream for another one."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt


def table(seed: int, value: str, n: int = 60) -> pa.Table:
    """Keys that come and go; the last tuple of each is marked."""
    random = np.random.default_rng(seed)
    keys = np.sort(random.integers(0, 12, n)) + random.integers(0, 3, n)
    last = np.zeros(n, np.bool_)
    last[[np.flatnonzero(keys == key)[-1] for key in np.unique(keys)]] = True
    return pa.table({"k": keys, "ts": np.arange(n) * 10 + random.integers(0, 10, n), value: np.arange(n), "last": last})


def declared(seed: int, name: str, window: int | None, batches: int = 1) -> tuple[pa.Table, pt.Stream]:
    rows = table(seed, name.lower())
    size = -(-len(rows) // batches)
    parts = [
        rows.slice(start, size).drop_columns(["last"]).append_column(f"last_{name}", rows["last"].slice(start, size))
        for start in range(0, len(rows), size)
    ]
    return rows, pt.stream(parts, name=name, key="k", time="ts", window=window, punctuations=pt.when(f"last_{name}"))


def within(one: int, one_window: int | None, two: int, two_window: int | None) -> bool:
    earlier_window = one_window if one <= two else two_window
    return earlier_window is None or abs(one - two) <= earlier_window


@pytest.mark.parametrize("batches", [1, 5])
@pytest.mark.parametrize("windows", [(None, None, None, None), (200, 150, 100, 80), (50, None, 0, 300)])
def test_three_streams_in_two_joins(
    windows: tuple[int | None, int | None, int | None, int | None], batches: int
) -> None:
    (a, left), (b, right), (c, third) = (
        declared(seed, name, window, batches) for seed, name, window in zip((1, 2, 3), "ABC", windows, strict=False)
    )
    joined = pt.join(left, right)
    both = pt.join(pt.stream(joined, name="AB", window=windows[3]), third)
    expected: Counter[tuple[int, int, int]] = Counter()
    for x in a.to_pylist():
        for y in b.to_pylist():
            if x["k"] == y["k"] and within(x["ts"], windows[0], y["ts"], windows[1]):
                at = max(x["ts"], y["ts"])
                for z in c.to_pylist():
                    if z["k"] == x["k"] and within(at, windows[3], z["ts"], windows[2]):
                        expected[x["a"], y["b"], z["c"]] += 1
    results = both.results
    assert Counter(zip(*(results[name].to_pylist() for name in "abc"), strict=True)) == expected
    assert len(expected) > 0
    assert "_ts" not in results.column_names
    assert both.rejected.num_rows == 0
    said = Counter(both.punctuations["k"].to_pylist())
    assert set(said.values()) <= {1}
    assert said.keys() == set(joined.punctuations["k"].to_pylist()) & set(c["k"].to_pylist()) | said.keys()


def test_a_group_of_three_streams_is_final_at_the_punctuation() -> None:
    (_, left), (_, right), (_, third) = (
        declared(seed, name, None) for seed, name in zip((1, 2, 3), "ABC", strict=True)
    )
    both = pt.join(pt.join(left, right), third)
    counts = both.group_by("k").agg(n=pt.count())
    per_key = Counter(both.results["k"].to_pylist())
    assert dict(zip(counts["k"].to_pylist(), counts["n"].to_pylist(), strict=True)) == per_key


@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
def test_a_semi_join_hands_on_the_moment_of_the_match() -> None:
    """The left tuple itself lies below the output watermark by then.

    A   1@0 9@30 | 9@60
    B       9@30 | 1@50
    C            | 1@55
    """

    def batches(name: str, *rows: list[tuple[int, int]]) -> pt.Stream:
        tables = [pa.table({"k": [k for k, _ in part], "ts": [ts for _, ts in part]}) for part in rows]
        schema = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
        return pt.stream([each.cast(schema) for each in tables], name=name, key="k", time="ts")

    matched = pt.join(batches("A", [(1, 0), (9, 30)], [(9, 60)]), batches("B", [(9, 30)], [(1, 50)]), how="semi")
    both = pt.join(pt.stream(matched, name="AB"), batches("C", [], [(1, 55)]))
    assert both.results["k"].to_pylist() == [1]
    assert both.rejected.num_rows == 0


def test_another_key_goes_on_by_time_alone() -> None:
    first = pa.table({"k": [1, 2], "ts": [0, 1], "user": [7, 8]})
    second = pa.table({"k": [1, 2], "ts": [2, 3], "last": [True, True]})
    users = pa.table({"user": [8, 7], "ts": [4, 5], "city": ["x", "y"]})
    joined = pt.join(
        pt.stream(first, name="A", key="k", time="ts", window=10),
        pt.stream(second, name="B", key="k", time="ts", window=10, punctuations=pt.when("last")),
    )
    by_user = pt.join(
        pt.stream(joined, name="AB", key="user", window=10),
        pt.stream(users, name="U", key="user", time="ts", window=10),
    )
    assert sorted(zip(by_user.results["user"].to_pylist(), by_user.results["city"].to_pylist(), strict=True)) == [
        (7, "y"),
        (8, "x"),
    ]


def test_what_a_join_brings_itself_cannot_be_given() -> None:
    (_, left), (_, right) = (declared(seed, name, 10) for seed, name in ((1, "A"), (2, "B")))
    with pytest.raises(pt.StreamError, match="leave out lateness"):
        pt.stream(pt.join(left, right), lateness=5)
