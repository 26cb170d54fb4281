"""Bad input gets a clear error when the query is built, and nothing half-done."""

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.model.aggregate import AGGREGATES
from punctuated.model.counters import COLUMNS
from table_streams import declare

LEFT = pa.table({"k": [1, 2], "ts": [0, 1], "v": ["a", "b"], "last": [False, True]})
RIGHT = pa.table({"k": [1, 2], "at": [0, 1]})


def left(table: Any = LEFT, **options: Any) -> pt.TableStream:
    return declare(table, **({"name": "A", "key": "k", "time": "ts", "window": 10} | options))


def right(table: pa.Table = RIGHT, **options: Any) -> pt.TableStream:
    return declare(table, **({"name": "B", "key": "k", "time": "at", "window": 10} | options))


def raises(part: str) -> "pytest.RaisesExc[pt.PunctuatedError]":
    return pytest.raises(pt.PunctuatedError, match=part)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "kk"}, r"'A' has no column 'kk'; did you mean 'k'"),
        ({"key": []}, "at least one key"),
        ({"key": ["k", "k"]}, "names a column twice"),
        ({"time": "when"}, "no column 'when'; it has: k, ts, v, last"),
        ({"time": "v"}, "'v' is of type string; it must be a timestamp or an integer"),
        ({"punctuations": pt.when("v")}, r"when\('v'\) needs a boolean column, not string"),
        ({"punctuations": pt.when("gone")}, "no column 'gone'"),
        ({"punctuations": pt.rows_with("k")}, "needs a text column"),
        ({"punctuations": "unique"}, r"pt\.unique\(\)"),
        ({"punctuations": pt.when("last") | pt.when("last")}, "one column"),
        ({"window": "-1 hour"}, "cannot be negative"),
        ({"window": "12 parsecs"}, "unknown unit 'parsecs'"),
        ({"window": "soon"}, "cannot read the duration 'soon'"),
        ({"lateness": "-1 s"}, "lateness cannot be negative"),
        ({"max_ahead": -1}, "max_ahead cannot be negative"),
        ({"on_violation": "ignore"}, "use 'reject', 'fail' or 'accept'"),
        ({"order": "nth"}, "no column 'nth'"),
        ({"key": 5}, "key=5: give the name of a column, or a list of names"),
        ({"key": ["k", None]}, r"key=\['k', None\]: give the name of a column"),
        ({"key": {"k": 1}.values()}, "give the name of a column"),
        ({"time": 5}, "time=5: give the name of a column as text"),
        ({"order": ["v"]}, r"order=\['v'\]: give the name of a column as text"),
        ({"name": 7}, "name=7: give the name of the stream as text"),
        ({"window": 1.5}, "1.5 is not a duration"),
        ({"window": True}, "True is not a duration"),
        ({"window": 2**64}, "longer than"),
        ({"lateness": None}, "None is not a duration"),
        ({"max_ahead": "far"}, "cannot read the duration"),
        ({"on_violation": ["reject"]}, "use 'reject', 'fail' or 'accept'"),
    ],
)
def test_a_stream_says_what_to_change(options: dict[str, object], message: str) -> None:
    with raises(message):
        left(**options)


def test_windows_say_what_to_change() -> None:
    with raises(r"rows\(0\) holds no tuple"):
        pt.rows(0)
    with raises("lower bound"):
        pt.between("2 hours", "1 hour")
    with raises("give the other stream a window"):
        pt.between("-5 min", "5 min")
    with raises("per='key'"):
        pt.rows(3, per="item")
    with raises("must be an integer"):
        pt.rows("3")  # type: ignore[arg-type]
    with raises("more than"):
        pt.rows(2**64)


def test_sources_say_what_to_change() -> None:
    with raises("when=5: give the name of a column as text"):
        pt.when(5)  # type: ignore[arg-type]
    with raises("rows_with=None: give the name of a column as text"):
        pt.rows_with(None)  # type: ignore[arg-type]
    with raises("key=5: give the name of a column, or a list of names"):
        pt.endings(LEFT, key=5, time="ts")  # type: ignore[arg-type]
    with raises("time=None: give the name of a column as text"):
        pt.endings(LEFT, key="k", time=None)  # type: ignore[arg-type]


def test_null_times_are_refused() -> None:
    with raises("'ts': row 1: its time is null; drop or fill such rows"):
        left(pa.table({"k": [1, 2], "ts": pa.array([0, None], pa.int64())}))


def test_times_in_another_unit_are_noticed() -> None:
    with raises("in another unit"):
        left(pa.table({"k": [1], "ts": [2**61]}))


def test_something_else_than_a_table_is_refused() -> None:
    with raises("needs a pyarrow.Table"):
        pt.stream({"k": [1]}, key="k", time="k")  # type: ignore[dict-item]
    with raises("differ in their columns"):
        pt.stream([LEFT, RIGHT], key="k", time="ts")
    with raises(r"made by pt\.stream"):
        pt.join(LEFT, right())
    with pytest.raises(pt.StreamError, match="not an empty list, whose columns nobody knows"):
        pt.stream([], name="A", key="k", time="t")
    twice = pa.table([[1], [2], [3]], names=["k", "t", "k"])
    with pytest.raises(pt.ColumnError, match="two columns of the name 'k'"):
        pt.stream(twice, name="A", key="k", time="t")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<1,*,*,*", "position 8"),
        ("<1,*>", "4"),
        ("<[5,*,*,*>", "position"),
        ("<x,*,*,*>", "position 1"),
        ("1,*,*,*", "position 0"),
    ],
)
def test_a_malformed_pattern_names_row_and_position(text: str, message: str) -> None:
    table = LEFT.append_column("said", pa.array([None, text]))
    with raises(rf"stream 'A', row 1: .*{message}"):
        pt.join(left(table, punctuations=pt.rows_with("said")), right())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "hash"}, "unknown algorithm 'hash'; known: auto, pwjoin, wjoin, pjoin, shj"),
        ({"how": "cross"}, "unknown join type how='cross'; known: inner, left, right, full, semi, anti"),
        ({"algorithm": "wjoin", "propagation": "early"}, "has no propagation rule 'early'"),
        ({"purge_threshold": 0}, "give a whole number of 1 or more"),
        ({"max_punctuations": 0}, "give a whole number of 1 or more"),
        ({"where": pt.left("w") > 1}, "A has no column 'w'"),
        ({"where": pt.left("v") > pt.right("at")}, "cannot evaluate"),
        ({"where": pt.left("ts") + 1}, "not true or false"),
        ({"where": "v > 1"}, r"pt\.left"),
        ({"sample_every": 0}, "longer than zero"),
        ({"algorithm": None}, "algorithm=None: give its name as text"),
        ({"algorithm": ["N", "N"]}, "give its name as text"),
        ({"algorithm": "pjoin", "propagation": ["none"]}, "give the name of a rule as text"),
        ({"how": None}, "unknown join type how=None"),
        ({"purge_threshold": "3"}, "purge_threshold='3': give a whole number of 1 or more"),
        ({"purge_threshold": 1.0}, "purge_threshold=1.0: give a whole number"),
        ({"max_punctuations": True}, "max_punctuations=True: give a whole number"),
        ({"max_punctuations": 2**70}, "give a whole number"),
        ({"node_size": 1 << 30}, "node_size=1073741824: give a whole number from 2 to 65,536"),
        ({"bucket_size": None}, "bucket_size=None: give a whole number from 1 to 65,536"),
        ({"bucket_memory": 1.5}, "bucket_memory=1.5: give bytes, or a text"),
        ({"select": 5}, "select=5: give the name of a column, or a list"),
        ({"select": [5]}, "give the name of a column, or a list"),
        ({"shed": 5}, r"give pt\.shed"),
        ({"where": ~pt.left("k")}, "cannot evaluate ~left.k"),
        ({"where": pt.left("ts") > object()}, "cannot evaluate"),
        ({"where": pt.left("ts") > 2**70}, "cannot evaluate"),
        ({"where": -pt.left("v") > 1}, r"cannot evaluate \(0 - left.v\)"),
    ],
)
def test_a_join_says_what_to_change(options: dict[str, Any], message: str) -> None:
    with raises(message):
        pt.join(left(), right(), **options)


def test_a_predicate_is_tried_when_the_join_is_built() -> None:
    naive, zoned = (pa.array([0], pa.timestamp("us", zone)) for zone in (None, "UTC"))
    ours = left(pa.table({"k": [1], "ts": [0], "x": naive}))
    with raises("cannot evaluate"):
        pt.join(ours, right(pa.table({"k": [1], "at": [0], "y": zoned})), where=pt.left("x") < pt.right("y"))


def test_streams_that_do_not_fit_are_refused() -> None:
    with raises("both streams are named 'A'"):
        pt.join(left(), right(name="A"))
    with raises("of type int64 on the left and string on the right"):
        pt.join(left(), right(pa.table({"k": ["1"], "at": [0]})))
    with raises("1 key columns and B 2"):
        pt.join(left(), right(key=["k", "at"]))
    with raises("two columns 'v_left'"):
        both = pa.table({"k": [1], "at": [0], "v": [1]})
        pt.join(left(LEFT.append_column("v_left", pa.array([1, 2]))), right(both))


def test_a_predicate_has_no_truth_value_of_its_own() -> None:
    with raises("combine with & and |"):
        bool(pt.left("a") > pt.right("b"))


def test_bands_say_what_to_change() -> None:
    for column, low, high in ((5, 0, 1), (("a", "b", "c"), 0, 1), ((), 0, 1), ("a", None, 1), ("a", "1 s", 1)):
        with raises("band"):
            pt.band(column, low, high)  # type: ignore[arg-type]
    with raises("left=5: give the name of a column"):
        pt.left(5)  # type: ignore[arg-type]


def test_groups_say_what_to_change() -> None:
    joined = pt.join(left(punctuations=pt.unique()), right())
    with raises("no column 'seller'"):
        joined.group_by("seller").agg(n=pt.count())
    with raises("no column 'price'"):
        joined.group_by("k").agg(n=pt.sum("price"))
    with raises("not a number"):
        joined.group_by("k").agg(n=pt.sum("v"))
    with raises("at least one column"):
        joined.group_by().agg(n=pt.count())
    with raises("at least one aggregate"):
        joined.group_by("k").agg()
    with raises("names a column twice"):
        joined.group_by("k", "k").agg(n=pt.count())
    with raises(r"n='count' is not an aggregate; use pt\.count"):
        joined.group_by("k").agg(n="count")  # type: ignore[arg-type]
    with raises("group_by=5: give the name of a column"):
        joined.group_by(5).agg(n=pt.count())  # type: ignore[arg-type]
    with raises(r"pt\.sum: column=5: give the name of a column"):
        joined.group_by("k").agg(n=pt.sum(5))  # type: ignore[arg-type]
    for function in (getattr(pt, name) for name, each in AGGREGATES.items() if not each.counts_rows):
        with raises("column=None: give the name of a column"):
            function(None)
    with raises("another one"):
        joined.group_by("k").agg(k=pt.count())
    nested = LEFT.append_column("s", pa.array([{"x": 1}, None]))
    joined = pt.join(left(nested, punctuations=pt.unique()), right())
    with raises(r"group_by\('s'\): the column is of type struct<x: int64>; group by a field of it"):
        joined.group_by("k", "s").agg(n=pt.count())
    with raises("which has no order"):
        joined.group_by("k").agg(n=pt.max("s"))


def test_late_groups_and_unbounded_states_warn() -> None:
    joined = pt.join(left(punctuations=pt.unique()), right())
    with pytest.warns(pt.LateGroupsWarning, match="final only when both streams have ended"):
        joined.group_by("v").agg(n=pt.count())
    with pytest.warns(pt.UnboundedStateWarning, match="remembers of 'B'"):
        pt.join(left(), right(window=None))


@pytest.mark.parametrize(
    ("algorithm", "remedy"),
    [
        ("auto", "give it a window, or give 'A' punctuations"),
        ("wjoin", "give it a window"),
        ("pjoin", "give 'A' punctuations"),
        ("shj", "shj forgets nothing; use 'auto'"),
    ],
)
@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")  # that of A
def test_the_warning_of_an_unbounded_state_names_what_the_algorithm_uses(algorithm: str, remedy: str) -> None:
    with pytest.warns(pt.UnboundedStateWarning, match=f"remembers of 'B': {remedy}$"):
        pt.join(left(), right(window=None), algorithm=algorithm)


def test_tables_may_come_from_a_generator() -> None:
    ends = pa.table({"k": [1, 2], "at": [0, 1]})
    said = pt.endings((each for each in (ends,)), key="k", time="at")
    ours = left((LEFT.slice(i, 1) for i in range(2)), punctuations=said)
    joined = pt.join(ours, right(punctuations=pt.unique()))
    assert len(joined.results) == 2 and sorted(joined.punctuations["k"].to_pylist()) == [1, 2]


def test_endings_must_fit_their_stream() -> None:
    with raises("name 2 key columns, the stream has 1"):
        left(punctuations=pt.endings(RIGHT, key=["k", "at"], time="at"))
    with raises("no column 'closed'"):
        left(punctuations=pt.endings(RIGHT, key="k", time="closed"))
    with raises("endings of A.*must be a timestamp or an integer"):
        left(punctuations=pt.endings(pa.table({"k": [1], "at": ["0"]}), key="k", time="at"))
    with raises("of type string, the stream int64"):
        left(punctuations=pt.endings(pa.table({"k": ["1"], "at": [0]}), key="k", time="at"))


def test_a_broken_promise_fails_when_asked_to() -> None:
    twice = pa.table({"k": [1, 1], "ts": [0, 1]})
    joined = pt.join(left(twice, punctuations=pt.unique(), on_violation="fail"), right())
    with pytest.raises(pt.PromiseBroken, match="on_violation='reject'"):
        _ = joined.results


def test_empty_inputs_are_fine() -> None:
    for how in ("inner", "left", "right", "full", "semi", "anti"):
        joined = pt.join(left(LEFT.slice(0, 0), punctuations=pt.when("last")), right(RIGHT.slice(0, 0)), how=how)
        assert len(joined.results) == len(joined.punctuations) == len(joined.rejected) == len(joined.all) == 0
        assert joined.results.column_names[:4] == ["k", "ts", "v", "last"]
        assert joined.group_by("k").agg(n=pt.count(), m=pt.mean("ts"), f=pt.first("v")).num_rows == 0
        assert "estimates: none, since rates are known only once there are rows" in joined.explain()
        assert joined.metrics.num_columns == 1 + len(COLUMNS)


def test_timestamps_of_every_unit_are_times() -> None:
    for unit in ("s", "ms", "us", "ns"):
        stamps = pa.array([datetime(2024, 1, 1), datetime(2024, 1, 2)], pa.timestamp(unit))
        joined = pt.join(
            left(pa.table({"k": [1, 2], "ts": stamps}), window="1 day"),
            right(pa.table({"k": [1, 2], "at": stamps}), window="1 day"),
        )
        assert joined.results["ts"].type == pa.timestamp(unit)
        assert len(joined.results) == 2


KEYS = {
    "an integer and a float": (pa.int64(), pa.float64(), "cast the right one to int64"),
    "a float and an integer": (pa.float32(), pa.int64(), "cast the left one to int64"),
    "with and without a sign": (pa.int32(), pa.uint64(), "cast the right one to int64"),
    "a decimal and a float": (pa.decimal128(9, 2), pa.float64(), r"cast the right one to decimal128\(9, 2\)"),
    "an integer and a decimal": (pa.int64(), pa.decimal128(9, 2), r"cast the left one to decimal128\(9, 2\)"),
    "moments and local times": (pa.timestamp("us", "UTC"), pa.timestamp("us"), "cast one of them"),
    "a text and a number": (pa.string(), pa.int64(), "cast one of them"),
}


@pytest.mark.parametrize("which", KEYS)
def test_keys_that_cannot_be_compared_exactly_are_refused(which: str) -> None:
    one, two, remedy = KEYS[which]
    tables = [pa.table({"k": pa.nulls(0, dtype), "ts": pa.nulls(0, pa.int64())}) for dtype in (one, two)]
    with raises(f"key 'k' is of type .*{remedy}"):
        pt.join(left(tables[0]), right(tables[1], time="ts"))


@pytest.mark.parametrize("dtype", [pa.float64(), pa.string(), pa.decimal128(9, 0)])
def test_endings_that_cannot_be_compared_exactly_are_refused(dtype: pa.DataType) -> None:
    said = pa.table({"k": pa.nulls(0, dtype), "at": pa.nulls(0, pa.int64())})
    with raises("its endings have key 'k'"):
        left(punctuations=pt.endings(said, key="k", time="at"))


def test_times_with_and_without_a_zone_are_refused() -> None:
    stamps = [datetime(2024, 1, 1), datetime(2024, 1, 2)]
    naive, zoned = (pa.array(stamps, pa.timestamp("us", zone)) for zone in (None, "UTC"))
    ours = pa.table({"k": [1, 2], "ts": naive})
    with raises(r"A has times of type timestamp\[us\] and B of type .*cast the other one"):
        pt.join(left(ours), right(pa.table({"k": [1, 2], "at": zoned})))
    with raises("its endings of type .*cast the other one"):
        left(ours, punctuations=pt.endings(pa.table({"k": [1, 2], "at": zoned}), key="k", time="at"))


def test_times_between_microseconds_are_refused_and_whole_ones_are_times() -> None:
    """A window of 10 µs must not join tuples at a distance of 10.999 µs."""
    fine = pa.table({"k": [1], "ts": pa.array([10_999], pa.timestamp("ns"))})
    with raises("time column 'ts': row 0: its time lies between two microseconds; round them"):
        left(fine)
    with raises("its time lies between two microseconds"):
        left(punctuations=pt.endings(fine, key="k", time="ts"))
    whole = [pa.table({"k": [1], name: pa.array([at], pa.timestamp("ns"))}) for name, at in (("ts", 0), ("at", 10_000))]
    assert len(pt.join(left(whole[0]), right(whole[1])).results) == 1


def test_times_that_an_input_type_cannot_hold_come_out() -> None:
    """An unmatched row comes out at the end of its window, wherever that is."""
    ours = pa.table({"k": pa.array([1], pa.int8()), "ts": pa.array([100], pa.int8())})
    theirs = pa.table({"k": pa.array([2], pa.int8()), "at": [300]})
    joined = pt.join(left(ours, window=90), right(theirs, window=90), how="left")
    assert joined.all["_ts"].to_pylist() == [190] and joined.all["_ts"].type == pa.int64()


def test_keys_finer_than_microseconds_are_told_apart() -> None:
    stamps = pa.array([1, 2, 3_000], pa.timestamp("ns"))
    tables = [pa.table({"k": stamps, name: [0, 0, 0]}) for name in ("ts", "at")]
    ours, other = (pt.unique(),) * 2
    joined = pt.join(left(tables[0], punctuations=ours), right(tables[1], punctuations=other))
    assert sorted(joined.punctuations["pattern"].to_pylist()) == [
        "<1970-01-01T00:00:00.000000001>",
        "<1970-01-01T00:00:00.000000002>",
        "<1970-01-01T00:00:00.000003000>",
    ]
    said = pa.table({"k": stamps[:1], "ts": [0], "said": ["<1970-01-01T00:00:00.000000001,*>"]})
    with raises("expected a value of type timestamp"):
        pt.join(left(said, punctuations=pt.rows_with("said")), right(tables[1]))


@pytest.mark.parametrize("bound", ["9223372036854775807]", "9223372036854775807)", "4611686018427387904]"])
def test_a_heartbeat_beyond_all_times_is_refused(bound: str) -> None:
    said = pa.table({"k": [1, None], "ts": [0, 5], "said": [None, f"<*,(,{bound}>"]})
    with raises("stream 'A', row 1: the time .* is beyond"):
        pt.join(left(said, punctuations=pt.rows_with("said")), right())


def test_the_largest_heartbeat_changes_no_key_beside_it() -> None:
    key = 2**53
    said = [None, f"<{key + 1},*>", None, f"<*,(,{2**60}]>"]
    ours = pa.table({"k": [key, None, key, None], "ts": [0, 0, 1, 5], "said": said})
    joined = pt.join(left(ours, punctuations=pt.rows_with("said")), right(pa.table({"k": [key], "at": [2]}), window=10))
    assert len(joined.results) == 2 and len(joined.rejected) == 0
