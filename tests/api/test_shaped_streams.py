"""`where=` and `select=` of a stream: rows that are no tuples still say what they say."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punctuated as pt
from table_streams import declare

Row = dict[str, Any]
SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.int64()), ("last", pa.bool_())])
KEEPS = pt.column("v") > 1
pytestmark = pytest.mark.filterwarnings(
    "ignore::punctuated.UnboundedStateWarning", "ignore::punctuated.RejectedRowsWarning"
)

rows = st.builds(
    lambda key, ts, v, last: {"k": key, "ts": ts, "v": v, "last": last},
    st.sampled_from([1, 2, 3, 4, None]),
    st.integers(0, 30),
    st.sampled_from([0, 1, 2, 3, None]),
    st.sampled_from([False, False, True, None]),
)
batches = st.lists(st.lists(rows, max_size=8), min_size=1, max_size=3)
sources = st.sampled_from([None, "flag", "unique", "clustered"])


def source_of(kind: str | None) -> Any:
    return {None: None, "flag": pt.when("last"), "unique": pt.unique(), "clustered": pt.clustered()}[kind]


def is_kept(row: Row) -> bool:
    return row["v"] is not None and row["v"] > 1


def by_hand(row: Row, kind: str | None) -> Row:
    """A tuple as it is; any other row as a punctuation: of its key, or one that says nothing but its time."""
    if is_kept(row):
        return {**row, "pattern": None}
    ends = (kind == "unique" or (kind == "flag" and row["last"])) and row["k"] is not None
    return {**row, "last": False, "pattern": f"<{row['k']},*,*,*>" if ends else "<{},{},{},{}>"}


def tables(given: list[list[Row]], schema: pa.Schema) -> list[pa.Table]:
    return [pa.Table.from_pylist(each, schema) for each in given]


def outcome(joined: pt.Join) -> tuple[Any, ...]:
    views = (joined.results, joined.punctuations, joined.rejected.drop_columns(["row"]))
    counted = tuple(Counter(map(repr, each.to_pylist())) for each in views)
    return *counted, joined.metrics["state_left"].to_pylist()[-1], joined.metrics["state_right"].to_pylist()[-1]


@pytest.mark.parametrize("buckets", [1, 3])
@given(left=batches, right=batches, kinds=st.tuples(sources, sources), lateness=st.sampled_from([0, 5]))
def test_as_if_other_rows_were_punctuations(
    buckets: int, left: list[list[Row]], right: list[list[Row]], kinds: tuple[str | None, str | None], lateness: int
) -> None:
    written = SCHEMA.append(pa.field("pattern", pa.string()))
    ours, theirs = [], []
    for name, stream, kind in zip("AB", (left, right), kinds, strict=True):
        options: dict[str, Any] = {"name": name, "key": "k", "time": "ts", "window": 10, "lateness": lateness}
        said, patterns = source_of(kind), pt.rows_with("pattern")
        ours.append(declare(tables(stream, SCHEMA), where=KEEPS, punctuations=said, **options))
        marked = [[by_hand(row, kind) for row in batch] for batch in stream]
        both = patterns if said is None else said | patterns
        theirs.append(declare(tables(marked, written), punctuations=both, **options))
    assert outcome(pt.join(*ours, buckets=buckets)) == outcome(pt.join(*theirs, buckets=buckets))


@given(left=batches, right=batches, how=st.sampled_from(["inner", "left", "full", "anti"]))
def test_results_are_those_of_filtered_rows(left: list[list[Row]], right: list[list[Row]], how: str) -> None:
    """Nothing is punctuated, and nothing is late."""
    options: dict[str, Any] = {"key": "k", "time": "ts", "window": 10, "lateness": 100}
    streams = [
        declare(tables(each, SCHEMA), name=name, where=KEEPS, **options)
        for name, each in zip("AB", (left, right), strict=True)
    ]
    kept = [
        declare(tables([list(filter(is_kept, batch)) for batch in each], SCHEMA), name=name, **options)
        for name, each in zip("AB", (left, right), strict=True)
    ]
    found, expected = (Counter(map(repr, pt.join(*each, how=how).results.to_pylist())) for each in (streams, kept))
    assert found == expected


def test_the_watermark_moves_when_no_row_is_kept() -> None:
    a = declare(pa.table({"k": [1, 2], "ts": [0, 1]}), name="A", key="k", time="ts", window=10)
    batches = [pa.table({"k": [1], "at": [5], "ok": [True]}), pa.table({"k": [7], "at": [50], "ok": [False]})]
    b = declare(batches, name="B", key="k", time="at", window=10, where=pt.column("ok"))
    joined = pt.join(a, b)
    run = joined.bound.driver()
    for batch in joined.batches:
        run.process(*batch)
    assert run.state.sides["watermark"].tolist()[1] == 50
    assert run.state.sides["live"].tolist() == [0, 1]  # A's tuples have left their window; B's waits for A's clock


@pytest.mark.parametrize("buckets", [1, 2])
def test_a_row_too_far_ahead_counts_neither_by_its_time_nor_by_its_flag(buckets: int) -> None:
    a = declare(pa.table({"k": [1], "ts": [0]}), name="A", key="k", time="ts", window=1000)
    rows = pa.table({"k": [1, 1, 2], "at": [5, 900, 8], "ok": [True, False, False], "last": [False, True, True]})
    b = declare(
        [rows, pa.table({"k": [1], "at": [9], "ok": [True], "last": [False]})],
        name="B",
        key="k",
        time="at",
        max_ahead=100,
        punctuations=pt.when("last"),
        where=pt.column("ok"),
    )
    joined = pt.join(a, b, buckets=buckets)
    assert joined.results["at"].to_pylist() == [5, 9]
    assert joined.rejected.num_rows == 0


def test_rows_that_are_not_kept_may_be_as_they_like() -> None:
    rows = pa.table({"k": [1, None, 3], "ts": pa.array([0, None, 2], pa.int64())})
    a = declare(rows, name="A", key="k", time="ts", window=9, where=pt.column("ts").is_not_null())
    b = declare(pa.table({"k": [1, 3], "at": [3, 3]}), name="B", key="k", time="at", window=9)
    assert pt.join(a, b).results.num_rows == 2


def test_patterns_pass_whatever_stands_beside_them() -> None:
    rows = pa.table({"k": [1, None], "ts": [0, 1], "v": [5, None], "p": [None, "<1,*,*>"]})
    a = declare(rows, name="A", key="k", time="ts", punctuations=pt.rows_with("p"), where=pt.column("v") > 1)
    b = declare(pa.table({"k": [1], "at": [3]}), name="B", key="k", time="at", window=9)
    joined = pt.join(a, b)
    assert joined.results.num_rows == 1
    assert joined.punctuations["k"].to_pylist() == [1]


def test_columns_are_renamed_and_computed() -> None:
    rows = pa.table({"id": ["1", "x", "2"], "seconds": [1, 2, 3], "price": [1.5, 2.5, 3.5]})
    select = {
        "k": pt.column("id").cast("bigint"),
        "ts": pt.column("seconds") * 1_000_000,
        "cents": pt.call("round", pt.column("price") * 100).cast("bigint"),
        "over": pt.column("price") > 3,
    }
    a = declare(rows, name="A", key="k", time="ts", window="1 hour", select=select, punctuations=pt.when("over"))
    assert a.schema.names == ["k", "ts", "cents", "over"]
    b = declare(
        pa.table({"k": [1, 2], "at": [5, 5]}), name="B", key="k", time="at", window="1 hour", select=["k", "at"]
    )
    joined = pt.join(a, b)
    assert sorted(joined.results["cents"].to_pylist()) == [150, 350]
    assert joined.punctuations["k"].to_pylist() == [2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": ["k", "tss"]}, "there is no column 'tss'; did you mean 'ts'"),
        ({"select": {"k": "k"}}, "no column 'ts'"),
        ({"select": {"k": 1, "ts": "ts"}}, "or an expression"),
        ({"select": {1: "k", "ts": "ts"}}, "as text"),
        ({"select": "k"}, "list of column names"),
        ({"select": ["k", "k", "ts"]}, "twice"),
        ({"where": pt.left("k") > 1}, r"write pt.column\('k'\)"),
        ({"where": pt.column("k") + 1}, "not true or false"),
        ({"where": "k > 1"}, "is not a predicate"),
        ({"where": pt.call("upper", pt.column("k")) == "X"}, "cannot evaluate upper"),
    ],
)
def test_bad_shapes_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(pt.PunctuatedError, match=message):
        declare(pa.table({"k": [1], "ts": [0]}), name="A", key="k", time="ts", **options)


def chained(**options: Any) -> pt.TableStream:
    a = declare(
        pa.table({"k": [1, 2, 3], "ts": [0, 1, 2], "v": [5, 6, 7]}),
        name="A",
        key="k",
        time="ts",
        punctuations=pt.unique(),
    )
    b = declare(
        pa.table({"k": [1, 2, 3], "at": [3, 4, 5], "w": [1, 2, 3]}),
        name="B",
        key="k",
        time="at",
        punctuations=pt.unique(),
    )
    made: pt.TableStream = pt.stream(pt.join(a, b), **options)
    return made


def test_the_results_of_a_join_are_shaped_too() -> None:
    select = {"item": "k", "sum": pt.column("v") + pt.column("w")}
    ab = chained(name="AB", select=select, where=pt.column("w") != 2)
    c = declare(pa.table({"k": [1, 2, 3], "t": [9, 9, 9]}), name="C", key="k", time="t", punctuations=pt.unique())
    joined = pt.join(ab, c)
    assert sorted(row["sum"] for row in joined.results.to_pylist()) == [6, 10]
    assert joined.results.column_names == ["item", "sum", "t"]
    assert ab.spec.punctuated and sorted(joined.punctuations["item"].to_pylist()) == [1, 2, 3]


def test_a_chained_stream_with_another_key_is_not_punctuated() -> None:
    ab = chained(name="AB", key="sum", select={"sum": pt.column("v") + pt.column("w")}, window=100)
    assert not ab.spec.punctuated
    c = declare(pa.table({"k": [6, 8], "t": [9, 9]}), name="C", key="k", time="t", window=100)
    assert pt.join(ab, c).results["sum"].to_pylist() == [6, 8]


def test_groups_are_shaped_as_streams() -> None:
    a = declare(pa.table({"k": [1, 2], "ts": [0, 1]}), name="A", key="k", time="ts", punctuations=pt.unique())
    b = declare(
        pa.table({"k": [1, 1, 2], "at": [3, 4, 5]}),
        name="B",
        key="k",
        time="at",
        window=10,
        punctuations=pt.clustered(),
    )
    groups = pt.join(a, b).group_by("k").agg(n=pt.count())
    many = pt.stream(groups, name="G", select={"id": "k", "twice": pt.column("n") * 2}, where=pt.column("n") > 1)
    c = declare(pa.table({"k": [1, 2], "t": [0, 0]}), name="C", key="k", time="t", window=1000)
    assert pt.join(many, c).results.to_pylist() == [{"id": 1, "twice": 4, "t": 0}]
