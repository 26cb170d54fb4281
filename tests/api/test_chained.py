"""The results of a join as a stream for another one."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import punctuated as pt
from table_streams import declare

Row = dict[str, Any]


def table(seed: int, value: str, n: int = 60) -> pa.Table:
    """Keys that come and go; the last tuple of each is marked."""
    random = np.random.default_rng(seed)
    keys = np.sort(random.integers(0, 12, n)) + random.integers(0, 3, n)
    last = np.zeros(n, np.bool_)
    last[[np.flatnonzero(keys == key)[-1] for key in np.unique(keys)]] = True
    return pa.table({"k": keys, "ts": np.arange(n) * 10 + random.integers(0, 10, n), value: np.arange(n), "last": last})


def declared(seed: int, name: str, window: int | None, batches: int = 1) -> tuple[pa.Table, pt.TableStream]:
    rows = table(seed, name.lower())
    size = -(-len(rows) // batches)
    parts = [
        rows.slice(start, size).drop_columns(["last"]).append_column(f"last_{name}", rows["last"].slice(start, size))
        for start in range(0, len(rows), size)
    ]
    return rows, declare(parts, name=name, key="k", time="ts", window=window, punctuations=pt.when(f"last_{name}"))


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
    over = both.punctuations["k"].to_pylist()
    assert sorted(over) == sorted({*joined.punctuations["k"].to_pylist(), *c["k"].to_pylist()})


TYPES = ["inner", "left", "right", "full", "semi", "anti"]


def joined_rows(left: list[Row], right: list[Row], how: str) -> list[Row]:
    """All pairs of equal keys, and what the type of the join makes of the others."""
    pairs = [(x, y) for x in left for y in right if x["k"] == y["k"]]
    lone = [x for x in left if not any(x is a for a, _ in pairs)]
    other = [y for y in right if not any(y is b for _, b in pairs)]
    if how == "semi":
        return [x for x in left if any(x is a for a, _ in pairs)]
    if how == "anti":
        return lone
    found = [{**x, **y} for x, y in pairs]
    return found + (lone if how in ("left", "full") else []) + (other if how in ("right", "full") else [])


@pytest.mark.parametrize("batches", [1, 7])
@pytest.mark.parametrize("second", TYPES)
@pytest.mark.parametrize("first", TYPES)
def test_chains_of_every_join_type_lose_nothing(first: str, second: str, batches: int) -> None:
    """Without windows, so that only keys and types decide; B comes long after A, and keys are missing everywhere."""
    tables = {name: table(seed, name.lower(), 40) for seed, name in ((1, "A"), (2, "B"), (3, "C"))}
    tables["B"] = tables["B"].set_column(1, "ts", pc.add(tables["B"]["ts"], 300))
    for name, factor in (("B", 3), ("C", 2)):
        known = np.asarray(tables[name]["k"]) % factor
        tables[name] = tables[name].filter(pa.array(known != 0 if name == "B" else known == 0))
    rows = {name: [{"k": row["k"], name: row[name.lower()]} for row in t.to_pylist()] for name, t in tables.items()}
    streams = {}
    for name, each in tables.items():
        plain = each.select(["k", "ts", name.lower(), "last"]).rename_columns(["k", f"ts_{name}", name, f"last_{name}"])
        size = -(-len(plain) // batches)
        cut = [plain.slice(start, size) for start in range(0, len(plain), size)]
        streams[name] = declare(
            cut, name=name, key="k", time=f"ts_{name}", punctuations=pt.when(f"last_{name}"), window=None
        )
    both = pt.join(pt.join(streams["A"], streams["B"], how=first), streams["C"], how=second)
    wanted = joined_rows(joined_rows(rows["A"], rows["B"], first), rows["C"], second)
    assert both.rejected.num_rows == 0
    shown = [name for name in ("k", "A", "B", "C") if name in both.schema.names]
    found = Counter(tuple(row[name] for name in shown) for row in both.results.to_pylist())
    assert found == Counter(tuple(row.get(name) for name in shown) for row in wanted)
    assert wanted


def test_a_semi_result_comes_at_the_moment_of_its_match() -> None:
    """A tuple that waited long for its match is not late in the next join, where it is met by what came meanwhile."""
    a = pa.table({"k": [1, 2], "ts": [0, 90]})
    b = pa.table({"k": [1, 3], "bt": [50, 95]})
    c = pa.table({"k": [1, 9], "ct": [55, 96]})
    cuts = [(a.slice(0, 1), b.slice(0, 0), c.slice(0, 0)), (a.slice(1), b, c)]
    left, right, third = (
        declare([cut[i] for cut in cuts], name=name, key="k", time=time, window=100)
        for i, (name, time) in enumerate((("A", "ts"), ("B", "bt"), ("C", "ct")))
    )
    met = pt.join(left, right, how="semi")
    both = pt.join(pt.stream(met, name="AB", window=10), third)
    assert met.all.filter(pc.equal(met.all["_kind"], "result")).select(["k", "_ts"]).to_pylist() == [
        {"k": 1, "_ts": 50}
    ]
    assert both.results["k"].to_pylist() == [1]
    assert both.rejected.num_rows == 0


def test_what_the_next_join_holds_does_not_depend_on_the_cut() -> None:
    """Output punctuations and the output watermark reach it in order of time within a batch, too."""
    n, peaks = 4_000, []
    keys, none = np.arange(n) // 4, np.zeros(n, np.bool_)
    last = np.arange(n) % 4 == 3
    for batches in (1, 4, 50):
        streams = []
        for name, shift in (("A", 0), ("B", 1), ("C", 2)):
            flag = none if name == "C" else last
            whole = pa.table(
                {"k": keys, f"ts_{name}": np.arange(n) * 10 + shift, name: np.arange(n), f"end_{name}": flag}
            )
            cut = [whole.slice(i * n // batches, n // batches) for i in range(batches)]
            ended = pt.when(f"end_{name}")
            streams.append(declare(cut, name=name, key="k", time=f"ts_{name}", punctuations=ended, window=2_000))
        both = pt.join(
            pt.stream(pt.join(streams[0], streams[1]), name="AB", window=2_000), streams[2], sample_every=100
        )
        peaks.append(max(both.metrics["state_right"].to_pylist()))
        assert len(both.results) == n * 4 * 4
    assert max(peaks) <= 2 * min(peaks) < n // 10


def test_a_group_of_three_streams_is_final_at_the_punctuation() -> None:
    (_, left), (_, right), (_, third) = (
        declared(seed, name, None) for seed, name in zip((1, 2, 3), "ABC", strict=True)
    )
    both = pt.join(pt.join(left, right), third)
    counts = both.group_by("k").agg(n=pt.count())
    per_key = Counter(both.results["k"].to_pylist())
    assert dict(zip(counts["k"].to_pylist(), counts["n"].to_pylist(), strict=True)) == per_key


@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
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
