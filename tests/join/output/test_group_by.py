"""Groups against the oracle: each once, in the batch in which it is final, with the right numbers."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import new_driver
from punctuated.join.output.group_by import GroupBy
from punctuated.model.aggregate import Aggregate
from punctuated.testing import reference
from punctuated.testing.strategies import Case, cases
from punctuated.testing.tables import as_batch

FUNCTIONS = ("count", "sum", "min", "max", "mean", "first", "last")


def groups_of(case: Case, by: list[str], aggregates: dict[str, Aggregate]) -> list[Counter[Any]]:
    driver = new_driver(case.spec)
    groups = GroupBy(driver.columns.schema, by, case.spec.left.key, aggregates, driver.codec)
    outputs = [
        driver.process(as_batch(case.spec.left, left), as_batch(case.spec.right, right)) for left, right in case.batches
    ]
    return [Counter(map(_frozen, groups.process(output).to_pylist())) for output in [*outputs, driver.end()]]


def _frozen(group: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(round(value, 9) if isinstance(value, float) else value for value in group.values())


@pytest.mark.parametrize("by", [["k"], ["k", "v"], ["v"]])
@given(data=st.data())
def test_groups_equal_the_oracle_batch_by_batch(by: list[str], data: st.DataObject) -> None:
    case = data.draw(cases())
    columns = {"rows": Aggregate("count")}
    columns |= {f"{function} v": Aggregate(function, "v") for function in FUNCTIONS}  # type: ignore[arg-type]
    mine = groups_of(case, by, columns)
    asked = {name: (each.function, each.column) for name, each in columns.items()}
    theirs = reference.groups(case.spec, reference.join(case.spec, case.batches), by, asked)
    assert mine == [Counter(map(_frozen, batch)) for batch in theirs]


def test_sums_survive_many_batches() -> None:
    """Accumulators are merged, not recomputed: nothing of the earlier results is kept."""
    import punctuated as pt

    opened, placed = pt.streams.auctions(300, seed=5)
    whole = pt.join(*_streams(pt, [opened], [placed])).group_by("item_id").agg(n=pt.count(), s=pt.sum("bid_price"))
    cuts = [placed.slice(i, 100) for i in range(0, len(placed), 100)]
    parts = pt.join(*_streams(pt, [opened], cuts)).group_by("item_id").agg(n=pt.count(), s=pt.sum("bid_price"))
    assert len(whole) == len(set(placed["item_id"].to_pylist()))
    by_key = [table.sort_by("item_id").to_pydict() for table in (whole, parts)]
    assert by_key[0]["n"] == by_key[1]["n"]
    assert by_key[0]["s"] == pytest.approx(by_key[1]["s"])


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
