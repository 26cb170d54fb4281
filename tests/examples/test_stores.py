"""WJ-09, example 1: what all stores sell within an hour, against merges of pandas."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import stores
from example_harness import cut_all, load_or_skip, microseconds, printed, rows, stored_by_reach
from real_data import stored

HOUR = 3_600_000_000
SOURCES = list(stores.SOURCES)


@cache
def sales(source: str) -> stores.Sales:
    return load_or_skip(stores.SOURCES[source])


@cache
def by_merging(source: str, within: str) -> list[tuple[object, ...]]:
    """The smallest stores first; after each merge the rows stay whose times are not too far apart."""
    lines = {name: table.to_pandas() for name, table in sales(source).lines.items()}
    found = pd.DataFrame()
    for name in sorted(lines, key=lambda name: len(lines[name])):
        sold = lines[name].rename(columns={"sold_at": f"{name}_sold_at"})
        found = sold if found.empty else found.merge(sold, on="item")
        times = found.drop(columns="item")
        found = found[times.max(axis=1) - times.min(axis=1) <= pd.Timedelta(within)]
    return rows(found[["item", *(f"{name}_sold_at" for name in lines)]])


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("n_batches", "within"), [(1, "1 hour"), (60, "1 hour"), (6, "6 hours")])
def test_results_are_those_of_merging_whatever_the_cut(source: str, n_batches: int, within: str) -> None:
    joined = stores.query(cut_all(sales(source).lines, n_batches), within)
    assert rows(joined.results.to_pandas()) == by_merging(source, within)
    assert joined.results.num_rows > 0
    assert joined.rejected.num_rows == 0


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_remembered_is_what_the_rule_of_removal_leaves(source: str) -> None:
    lines = sales(source).lines
    joined = stores.query(lines)
    times = [microseconds(table["sold_at"]) for table in lines.values()]
    samples = microseconds(joined.metrics["ts"])[:-2]  # the last ones are of the end of the batch, and of the streams
    wanted = stored_by_reach(times, np.full((3, 3), HOUR), samples)
    assert stored(joined)[:-2] == wanted


@pytest.mark.parametrize("source", SOURCES)
def test_the_script_tells_the_answer(source: str) -> None:
    told = printed("stores", *([source] if source != SOURCES[0] else []))
    found = pd.Series([item for item, *_ in by_merging(source, "1 hour")])
    assert f"  {len(found):,} results, of {found.nunique():,} items:" in told
    best = found.value_counts()
    assert f"  {best.iloc[0]:>5,}  {sales(source).names[best.index[0]].strip()}" in told


def test_stores_are_the_largest_ones_in_the_order_of_time() -> None:
    days = pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-02", "2020-01-04"])
    stores_and_items = {"store": ["a", "a", "b", "c"], "item": [1, 2, 3, 4]}
    lines = pd.DataFrame(stores_and_items | {"sold_at": days})
    tables = stores.by_store(pd.concat([lines, lines[:3], lines[:2], lines[3:], lines[3:]]).assign(other=0))
    assert list(tables) == ["a", "c", "b"]
    assert tables["a"]["item"].to_pylist() == [2, 2, 2, 1, 1, 1]
    assert all(isinstance(table, pa.Table) and table.column_names == ["item", "sold_at"] for table in tables.values())


def test_a_source_that_is_unknown_is_told() -> None:
    with pytest.raises(SystemExit, match="'shops' is none of complete_journey, online_retail"):
        stores.main(["shops"])
