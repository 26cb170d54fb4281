"""`pt.only`, `pt.union` and `distinct` over tables."""

import warnings
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punctuated as pt
from table_streams import declare

BIDS = pa.table(
    {
        "at": [1, 2, 3, 4, 5],
        "item": [7, 8, 7, None, 8],
        "bidder": ["a", "b", "a", "c", "a"],
        "closed": [False, False, True, False, False],
    }
)


def bids(table: pa.Table = BIDS, name: str | None = None, **options: Any) -> pt.TableStream:
    return declare(table, **{"name": name, "key": "item", "time": "at", "punctuations": pt.when("closed"), **options})


def test_a_stream_by_itself_is_its_tuples_and_its_endings() -> None:
    with warnings.catch_warnings(action="error"):  # nothing is stored, so nothing is unbounded
        alone = pt.only(bids(window="1 hour", idle_after=5))
        assert alone.results.equals(BIDS.select(["item", "at", "bidder", "closed"]))
        assert alone.punctuations.select(["item", "ts"]).to_pylist() == [{"item": 7, "ts": 3}]
        assert alone.all["_ts"].to_pylist()[:5] == [1, 2, 3, 4, 5]
        assert alone.metrics["state_1"].to_pylist()[-1] == 0
    plan = alone.explain()
    assert plan.startswith("stream by itself, by item\n│  output punctuations: when the stream has ended a value\n")
    assert "punctuations: from flag 'closed'" in plan and "state: no tuples, only which values are over" in plan


def test_what_comes_late_or_after_its_ending_is_rejected() -> None:
    more = pa.table({"at": [6, 2], "item": [7, 9], "bidder": ["x", "y"], "closed": [False, False]})
    alone = pt.only(declare([BIDS, more], name="B", key="item", time="at", punctuations=pt.when("closed")))
    told = alone.rejected.select(["stream", "reason"]).to_pylist()
    assert sorted(each["reason"] for each in told) == ["late", "promise"]
    assert len(alone.results) == len(BIDS)


def test_groups_are_final_when_the_stream_ends_their_value() -> None:
    alone = pt.only(bids(), threads=2)
    groups = alone.group_by("item").agg(n=pt.count())
    assert groups.to_pylist()[0] == {"item": 7, "n": 2}
    ended = declare(pa.table({"item": [7], "seen": [4]}), name="C", key="item", time="seen", window=5)
    assert pt.join(pt.stream(groups, name="G", window=5), ended).results.to_pylist() == [{"item": 7, "n": 2, "seen": 4}]
    with pytest.warns(pt.LateGroupsWarning, match="only when the stream has ended: group by the key"):
        alone.group_by("bidder").agg(n=pt.count())


def test_a_stream_without_a_key() -> None:
    plain = pt.only(declare(BIDS, time="at"), buckets=3)
    assert sorted(plain.results["at"].to_pylist()) == [1, 2, 3, 4, 5]
    with pytest.warns(pt.UnboundedStateWarning, match="what distinct\\(bidder\\) remembers"):
        assert sorted(plain.distinct("bidder")["bidder"].to_pylist()) == ["a", "b", "c"]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_value_of_a_union_is_over_when_all_have_ended_it(n: int) -> None:
    closings = [pa.table({"item": [7, i + 10], "at": [i, 20 + i], "closed": [True, True]}) for i in range(n)]
    united = pt.union(*(bids(table, f"S{i}") for i, table in enumerate(closings)))
    assert united.results["at"].to_pylist() == [*range(n), *range(20, 20 + n)]
    first, *others = united.punctuations.select(["item", "ts"]).to_pylist()
    assert first == {"item": 7, "ts": n - 1}
    assert {each["ts"] for each in others} == {20 + n - 1}  # when the others have ended altogether


def test_a_union_goes_on_as_a_stream() -> None:
    half = [BIDS.slice(0, 2), BIDS.slice(2)]
    united = pt.union(bids(half[0], "A", punctuations=None), bids(half[1], "B", punctuations=None))
    again = pt.only(pt.stream(united, name="U"))
    assert sorted(again.results["at"].to_pylist()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("other", "options", "message"),
    [
        (BIDS.drop_columns(["bidder"]), {}, "'B' has no 'bidder'"),
        (BIDS.append_column("more", BIDS["at"]), {}, "'A' has no 'more'"),
        (BIDS.set_column(2, "bidder", BIDS["at"]), {}, "'bidder' is of type string in one and of int64"),
        (BIDS, {"key": "bidder"}, "different keys: item, and bidder"),
        (BIDS, {"name": "A"}, "two streams of the union are named 'A'"),
    ],
)
def test_streams_that_do_not_fit_are_refused(other: pa.Table, options: dict[str, Any], message: str) -> None:
    with pytest.raises(pt.PunctuatedError, match=message):
        pt.union(bids(name="A"), bids(other, **{"name": "B", **options}))


def test_wrong_numbers_and_kinds_are_refused() -> None:
    with pytest.raises(pt.StreamError, match=r"for one use pt\.only"):
        pt.union(bids())
    with pytest.raises(pt.StreamError, match="one to 8 streams, not 9"):
        pt.union(*(bids(name=f"S{i}") for i in range(9)))
    with pytest.raises(pt.StreamError, match=r"pt\.only takes streams made by pt\.stream"):
        pt.only(BIDS)
    with pytest.raises(pt.AlgorithmError, match=r"known: inner, left, right, full, semi, anti$"):
        pt.join(bids(name="A"), bids(name="B"), how="union")


# Each combination once


def distinct_of(parts: list[pa.Table], buckets: int = 1) -> pa.Table:
    stream = declare(parts, key="item", time="at", punctuations=pt.when("closed"), lateness=100)
    return pt.only(stream, buckets=buckets).distinct("item", "bidder")


@given(
    st.lists(st.tuples(st.integers(0, 3) | st.none(), st.sampled_from("abc")), max_size=30),
    st.integers(1, 30),
    st.integers(1, 3),
)
def test_each_combination_comes_once(rows: list[tuple[int | None, str]], cut: int, n_buckets: int) -> None:
    last = {item: place for place, (item, _) in enumerate(rows)}
    closed = [item is not None and last[item] == place for place, (item, _) in enumerate(rows)]
    table = pa.table(
        {
            "item": pa.array([item for item, _ in rows], pa.int64()),
            "bidder": pa.array([bidder for _, bidder in rows], pa.string()),
            "at": pa.array(range(len(rows)), pa.int64()),
            "closed": pa.array(closed, pa.bool_()),
        }
    )
    parts = [table.slice(start, cut) for start in range(0, max(1, len(rows)), cut)]
    found = [tuple(row.values()) for row in distinct_of(parts, n_buckets).to_pylist()]
    assert sorted(found, key=repr) == sorted(dict.fromkeys(rows), key=repr)
    if n_buckets == 1:
        assert found == list(dict.fromkeys(rows))


def test_what_is_over_is_forgotten() -> None:
    n = 1000
    table = pa.table({"item": range(n), "bidder": ["a"] * n, "at": range(n), "closed": [True] * n})
    alone = pt.only(bids(table, lateness=0))
    bound = alone.bound.distinct(("item", "bidder"))
    groups = bound.groups()
    fresh = [groups.process(batch) for batch in alone.batches_for(bound)]
    assert len(fresh[0]) == n and len(groups.save()) < 2_000


def test_distinct_rows_go_on_at_their_first_appearance() -> None:
    told = pt.only(bids()).distinct("item", "bidder")
    again = pt.only(pt.stream(told, name="D"))
    assert again.all.filter(pa.compute.equal(again.all["_kind"], "result"))["_ts"].to_pylist() == [1, 2, 4, 5]
    assert again.punctuations["item"].to_pylist() == [7]


def test_distinct_columns_must_be_there() -> None:
    alone = pt.only(bids())
    with pytest.raises(pt.AggregateError, match="no column 'price'"):
        alone.distinct("item", "price")
    with pytest.raises(pt.AggregateError, match="names a column twice"):
        alone.distinct("item", "item")
    assert len(alone.distinct()) == len(BIDS)


def test_a_chain_that_ends_with_its_first_batch_ends_no_earlier_than_its_rows() -> None:
    first = pt.only(bids())
    second = pt.only(pt.stream(first, name="again"))
    told = pa.concat_tables(first.chain_batches())
    # As on Spark, where a batch of DataFrames is followed by the end at once, and no watermark comes before it.
    at_once = told.filter(pc.is_in(told["_kind"], pa.array(["result", "end"])))
    batch = second.bound.driver().process(second.bound.inputs[0].read(at_once))
    assert batch.ended and batch.latest_ts == max(BIDS["at"].to_pylist())
