"""Groups against the oracle: each once, in the batch in which it is final, with the right numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import new_driver
from punctuated.arrow.ipc import pack_bundle, to_ipc
from punctuated.errors import SnapshotError
from punctuated.exchange.spread import spread
from punctuated.model.aggregate import AGGREGATES, Aggregate, Takes
from punctuated.model.batch import BucketId, Row
from punctuated.model.pattern import WILDCARD
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinType, Side
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups import group_by
from punctuated.output.groups.group_by import GroupBy
from punctuated.testing import reference
from punctuated.testing.strategies import Case, Object, cases, honest_cases
from punctuated.testing.tables import as_batch

SCHEMA = pa.schema([("k", pa.int64()), ("c", pa.string()), ("v", pa.float64())])
# Sums of these depend on the order, unless they are exact.
FLOATS = [0.1, 0.2, 0.3, -0.7, 1e16, -1e16, 1e-9, 1e308, -1e308, 5e-324, 1 / 3, None]
SUMS = {
    f"{function} x": Aggregate(function, "x") for function, each in AGGREGATES.items() if each.takes is Takes.NUMBERS
}
SUMS["n"] = Aggregate("count", "x")


def new_groups(driver: JoinDriver, by: list[str], aggregates: dict[str, Aggregate]) -> GroupBy:
    return GroupBy(driver.collector.schema, by, driver.spec.left.key, aggregates)


def groups_of(case: Case, by: list[str], aggregates: dict[str, Aggregate]) -> list[Counter[Any]]:
    driver = new_driver(case.spec)
    groups = new_groups(driver, by, aggregates)
    outputs = [
        driver.process(as_batch(case.spec.left, left), as_batch(case.spec.right, right)) for left, right in case.batches
    ]
    return [counted(groups.process(output).to_pylist()) for output in [*outputs, driver.end()]]


def groups_in_buckets(case: Case, by: list[str], aggregates: dict[str, Aggregate], n_buckets: int) -> Counter[Any]:
    """All groups; those that are open are saved and restored after each batch."""
    found: Counter[Any] = Counter()
    for bucket in range(n_buckets):
        driver = new_driver(case.spec, place=BucketId(bucket, n_buckets))
        saved = new_groups(driver, by, aggregates).save()
        for output in outputs_of_bucket(driver, case, bucket, n_buckets):
            groups = new_groups(driver, by, aggregates)
            groups.load(saved)
            found += counted(groups.process(output).to_pylist())
            saved = groups.save()
    return found


def outputs_of_bucket(driver: JoinDriver, case: Case, bucket: int, n_buckets: int) -> Iterator[BatchResult]:
    for batch in case.batches:
        left, right = (
            spread(case.spec.streams[side], as_batch(case.spec.streams[side], batch[side]), [pa.int64()], n_buckets)
            for side in Side
        )
        yield driver.process(left[bucket], right[bucket])
    yield driver.end()


def expected(case: Case, by: list[str], aggregates: dict[str, Aggregate]) -> list[Counter[Any]]:
    asked = {name: (each.function, each.column) for name, each in aggregates.items()}
    outputs = reference.join(case.spec, case.batches)
    return [counted(batch) for batch in reference.groups(case.spec, outputs, by, asked)]


def counted(groups: list[dict[str, Any]]) -> Counter[Any]:
    return Counter(tuple(group.values()) for group in groups)


def with_floats(case: Case, numbers: Sequence[float | None]) -> Case:
    """The same case, and a column `x` of these numbers on the left."""

    def widened(each: Object) -> Object:
        if isinstance(each, Row):
            return Row((*each.values, numbers[(7 * each.values[1] + (each.values[2] or 0)) % len(numbers)]))
        return replace(each, patterns=(*each.patterns, WILDCARD))

    left, right = case.spec.streams
    spec = replace(case.spec, streams=(replace(left, columns=(*left.columns, "x")), right))
    return Case(spec, [([widened(each) for each in ours], other) for ours, other in case.batches])


numbers = st.lists(st.sampled_from(FLOATS) | st.floats(allow_nan=False), min_size=6, max_size=20)


@pytest.mark.parametrize("by", [["k"], ["k", "v"], ["v"]])
@given(data=st.data())
def test_groups_equal_the_oracle_batch_by_batch(by: list[str], data: st.DataObject) -> None:
    case = data.draw(cases())
    columns = {"rows": Aggregate("count")}
    columns |= {f"{function} v": Aggregate(function, "v") for function in AGGREGATES}
    assert groups_of(case, by, columns) == expected(case, by, columns)


# Sums of floats


@pytest.mark.parametrize("by", [["k"], ["v"]])
@given(data=st.data())
def test_sums_of_floats_are_those_of_the_oracle_to_the_last_bit(by: list[str], data: st.DataObject) -> None:
    case = with_floats(data.draw(cases(types=(JoinType.INNER, JoinType.LEFT))), data.draw(numbers))
    mine, theirs = groups_of(case, by, SUMS), expected(case, by, SUMS)
    assert list(map(repr, map(sorted_groups, mine))) == list(map(repr, map(sorted_groups, theirs)))


@given(st.data(), st.integers(1, 4))
def test_sums_of_floats_do_not_depend_on_cuts_buckets_or_restarts(data: st.DataObject, n_buckets: int) -> None:
    honest = data.draw(honest_cases(types=(JoinType.INNER, JoinType.FULL), counts=False, max_objects=48))
    floats, cuts = data.draw(numbers), st.lists(st.integers(0, 24), max_size=6)
    spec = replace(honest.spec, purge_threshold=1)
    one, two = (with_floats(Case(spec, honest.cut(data.draw(cuts))), floats) for _ in range(2))
    whole = sum(expected(one, ["k"], SUMS), Counter())
    assert sorted_groups(groups_in_buckets(two, ["k"], SUMS, n_buckets)) == sorted_groups(whole)


def sorted_groups(groups: Counter[Any]) -> list[str]:
    """As text, in which NaN equals itself."""
    return sorted(map(repr, groups.elements()))


def test_sums_survive_many_batches() -> None:
    """Accumulators are merged, not recomputed: nothing of the earlier results is kept."""
    import punctuated as pt

    opened, placed = pt.streams.auctions(300, seed=5)
    asked = {"n": pt.count(), "s": pt.sum("bid_price"), "m": pt.mean("bid_price")}
    whole = pt.join(*_streams(pt, [opened], [placed])).group_by("item_id").agg(**asked)
    assert len(whole) == len(set(placed["item_id"].to_pylist()))
    for n in (100, 37):
        cuts = [placed.slice(i, n) for i in range(0, len(placed), n)]
        parts = pt.join(*_streams(pt, [opened], cuts)).group_by("item_id").agg(**asked)
        assert parts.sort_by("item_id").to_pydict() == whole.sort_by("item_id").to_pydict()


# Edges


def test_no_results_no_groups() -> None:
    groups = GroupBy(SCHEMA, ["k", "c"], ["k"], {"s": Aggregate("sum", "v")})
    for batch in (BatchResult(), BatchResult([SCHEMA.empty_table()]), BatchResult(ended=True)):
        assert groups.process(batch).to_pylist() == []
        groups.load(groups.save())
    assert groups.schema == pa.schema([("k", pa.int64()), ("c", pa.string()), ("s", pa.float64())])


def test_results_wait_for_one_that_ends_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small parts are grouped together; nobody can tell, and none is forgotten when groups are saved."""
    asked = {f"{each} v": Aggregate(each, "v") for each in AGGREGATES}
    parts = [pa.table({"k": [i % 3, 7], "c": ["a", None], "v": [i / 7, None]}, schema=SCHEMA) for i in range(10)]
    ts = [np.array([i, i]) for i in range(10)]
    found = []
    for enough in (0, 50, 1 << 20):
        monkeypatch.setattr(group_by, "_ENOUGH", enough)
        for restarts in (False, True):
            groups = GroupBy(SCHEMA, ["k"], ["k"], asked)
            for part, times in zip(parts, ts, strict=True):
                assert not len(groups.process(BatchResult([part], [times])))
                if restarts:
                    saved, groups = groups.save(), GroupBy(SCHEMA, ["k"], ["k"], asked)
                    groups.load(saved)
            found.append(groups.process(BatchResult(ended=True)))
    assert all(each.equals(found[0]) for each in found)
    whole = GroupBy(SCHEMA, ["k"], ["k"], asked).process(BatchResult(parts, ts, ended=True))
    assert whole.equals(found[0])


def test_groups_of_another_version_say_what_to_do() -> None:
    groups = GroupBy(SCHEMA, ["k"], ["k"], {"s": Aggregate("sum", "v")})
    wrapped = {"groups": to_ipc(pa.table({"k": [1]})), "sum of v": to_ipc(pa.table({"total": [1], "known": [True]}))}
    for old in ({"totals": to_ipc(pa.table({"k": [1], "s\0sum": [0.5]}))}, wrapped):
        with pytest.raises(SnapshotError, match="start with a new checkpoint"):
            groups.load(pack_bundle(old))


def test_columns_of_dictionaries_are_grouped_by_their_values() -> None:
    schema = pa.schema([("k", pa.int64()), ("c", pa.dictionary(pa.int32(), pa.string())), ("v", pa.float64())])
    groups = GroupBy(schema, ["c"], ["k"], {"s": Aggregate("sum", "v")})
    for text in (["a", "b", None], ["b", "c", "a"]):
        rows = pa.table({"k": [1, 1, 1], "c": pa.array(text).dictionary_encode(), "v": [1.0, 2.0, 4.0]}, schema=schema)
        groups.process(BatchResult([rows]))
    found = groups.process(BatchResult(ended=True))
    assert {row["c"]: row["s"] for row in found.to_pylist()} == {"a": 5.0, "b": 3.0, None: 4.0, "c": 2.0}


def test_the_first_and_last_of_nested_columns_under_odd_names() -> None:
    import punctuated as pt

    rows = pa.table({".k": [1, 1, 1], "ts": [3, 1, 2], ".s": [{"x": [3]}, None, {"x": None}]})
    ours = pt.stream([rows.slice(i, 1) for i in range(3)], name="A", key=".k", time="ts", window=10, lateness=10)
    theirs = pt.stream(pa.table({".k": [1], "at": [3]}), name="B", key=".k", time="at", window=10)
    with pytest.warns(pt.LateGroupsWarning):
        groups = pt.join(ours, theirs).group_by(".k").agg(first=pt.first(".s"), last=pt.last(".s"))
    assert groups.to_pylist() == [{".k": 1, "first": None, "last": {"x": [3]}}]


def _streams(pt: Any, opened: list[Any], placed: list[Any]) -> tuple[Any, Any]:
    return (
        pt.stream(opened, name="A", key="item_id", time="opened_at", window="2 hours", punctuations=pt.unique()),
        pt.stream(placed, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed")),
    )


def test_numbers_of_groups_are_those_of_the_oracle_at_their_limits() -> None:
    """As Spark has them: null where a sum does not fit, one group of both zeros and one of all NaNs."""
    import punctuated as pt

    nan, big = float("nan"), 2**63 - 1
    rows = {"k": [1] * 6, "ts": range(6), "g": [0.0, -0.0, nan, 5.0, -nan, None], "v": [big, 1, big, 7, -big, 2]}
    ours = pt.stream(pa.table(rows), name="A", key="k", time="ts", window=9)
    other = pt.stream(pa.table({"k": [1], "at": [5]}), name="B", key="k", time="at", window=9)
    joined = pt.join(ours, other)
    asked = {f"{each} {column}": (each, column) for each in ("sum", "mean", "min", "max") for column in "gv"}
    with pytest.warns(pt.LateGroupsWarning):
        found = joined.group_by("g").agg(**{name: Aggregate(*each) for name, each in asked.items()})
    left, right = ([Row(tuple(row.values())) for row in each.batches[0].to_pylist()] for each in (ours, other))
    everything = Punctuation(9, (WILDCARD,) * 4), Punctuation(9, (WILDCARD,) * 2)
    outputs = reference.join(joined.spec, [([*left, everything[0]], [*right, everything[1]])])
    wanted = reference.groups(joined.spec, outputs, ["g"], asked)
    assert sorted(map(repr, found.to_pylist())) == sorted(repr(row) for batch in wanted for row in batch)
    assert [row["sum v"] for row in found.to_pylist() if row["g"] == 0.0] == [None]
