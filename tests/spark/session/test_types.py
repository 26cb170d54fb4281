"""Columns of every type of Spark go through a join unchanged, as payload and as key."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import col, collate, struct

import punctuated as pt
from punctuated.spark.session.local import write_files
from spark.spark_harness import Running, read_files

NAN, MINUS_ZERO = float("nan"), -0.0
SMALL = Decimal("0.000000000000000001")
LARGE = Decimal("99999999999999999999.999999999999999999")
DAY = datetime(2020, 1, 1)
FIRST, LAST = datetime(1970, 1, 1, 0, 0, 0, 1), datetime(2262, 4, 11, 23, 47, 16, 854775)
TWICE = [datetime(2020, 11, 1, hour, 30, tzinfo=UTC) for hour in (5, 6)]  # 01:30 in New York, both of them
PAYLOAD: dict[str, tuple[str, list[Any]]] = {
    "a_boolean": ("BOOLEAN", [True, False]),
    "a_byte": ("TINYINT", [-128, 127]),
    "a_short": ("SMALLINT", [-(2**15), 2**15 - 1]),
    "an_int": ("INT", [-(2**31), 2**31 - 1]),
    "a_bigint": ("BIGINT", [-(2**63), 2**63 - 1]),
    "a_float": ("FLOAT", [NAN, MINUS_ZERO, 0.1, float("inf")]),
    "a_double": ("DOUBLE", [NAN, MINUS_ZERO, 0.1, float("-inf")]),
    "a_decimal": ("DECIMAL(38,18)", [SMALL, LARGE.copy_negate(), LARGE]),
    "a_small_decimal": ("DECIMAL(5,2)", [Decimal("-999.99"), Decimal("0.00")]),
    "a_string": ("STRING", ["", "ä\n\0😀", "x" * 1000]),
    "a_binary": ("BINARY", [b"", b"\x00\xff"]),
    "a_date": ("DATE", [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
    "a_timestamp": ("TIMESTAMP", [FIRST, LAST, *TWICE]),
    "a_local_timestamp": ("TIMESTAMP_NTZ", [FIRST, LAST, datetime(1, 1, 1)]),
    "an_interval": ("INTERVAL DAY TO SECOND", [timedelta(days=-1, microseconds=1), timedelta(days=10**5)]),
    "some_ints": ("ARRAY<INT>", [[], [1, None, -3]]),
    "some_timestamps": ("ARRAY<TIMESTAMP>", [[FIRST, None, *TWICE], [LAST]]),
    "some_doubles": ("ARRAY<DOUBLE>", [[NAN, MINUS_ZERO, None], []]),
    "some_binaries": ("ARRAY<BINARY>", [[b"", None, b"\x00\xff"]]),
    "some_intervals": ("ARRAY<INTERVAL DAY TO SECOND>", [[timedelta(days=-1, microseconds=1), None]]),
    "some_arrays": ("ARRAY<ARRAY<STRING>>", [[["a"], None, []]]),
    "a_map": ("MAP<STRING,INT>", [{}, {"a": 1, "b": None}]),
    "a_deep_map": ("MAP<INT,ARRAY<STRUCT<x:DATE>>>", [{1: [Row(x=date(2020, 2, 29)), Row(x=None), None], 2: None}]),
    "a_map_of_maps": ("MAP<DATE,MAP<BIGINT,DECIMAL(38,18)>>", [{date(1, 1, 1): {2**63 - 1: LARGE}}, {DAY.date(): {}}]),
    "some_structs": (
        "ARRAY<STRUCT<t:TIMESTAMP,n:TIMESTAMP_NTZ,b:BINARY,m:MAP<STRING,TIMESTAMP>>>",
        [[Row(t=TWICE[0], n=LAST, b=b"\xff", m={"": FIRST}), None, Row(t=TWICE[1], n=None, b=None, m=None)]],
    ),
    "a_struct": (
        "STRUCT<x:INT,y:STRUCT<z:ARRAY<DECIMAL(10,3)>,t:TIMESTAMP_NTZ>>",
        [Row(x=1, y=Row(z=[Decimal("1.250"), None], t=LAST)), Row(x=None, y=None)],
    ),
}
DECLARED = [  # what cannot be written as a value in Python, or has fields that are declared without nulls
    "parse_json(concat('{\"a\": [', an_int, ', null, \"x\"]}')) AS a_variant",
    "array(parse_json(CAST(a_bigint AS STRING)), NULL) AS some_variants",
    "IF(a_byte < 0, NULL, named_struct('x', 1, 'ts', array(DATE'2020-01-01'), 'm', map('k', 0.5))) AS a_full_struct",
    "IF(a_byte < 0, NULL, array(named_struct('t', TIMESTAMP'2020-07-01 00:00:00'))) AS full_structs",
    "a_string COLLATE UTF8_LCASE AS a_collated_string",
    "array(a_string COLLATE UNICODE_CI) AS collated_strings",
    "CAST(an_interval AS INTERVAL DAY TO HOUR) AS an_interval_of_hours",
]
N = 10


@pytest.fixture
def elsewhere(spark: SparkSession) -> SparkSession:
    """A session whose time zone is not UTC, and has summer time."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    return session


def everything(spark: SparkSession) -> DataFrame:
    """Rows with all values of all types, a null now and then, and a key of two columns."""
    rows = [
        (
            f"key {n}",
            date(2020, 1, 1 + n % 2),
            DAY + timedelta(seconds=n),
            *(_value(values, n + place) for place, (_, values) in enumerate(PAYLOAD.values())),
        )
        for n in range(N)
    ]
    columns = [f"`{name}` {sql}" for name, (sql, _) in PAYLOAD.items()]
    return spark.createDataFrame(rows, f"k STRING, d DATE, ts TIMESTAMP, {', '.join(columns)}")


def declared(frame: DataFrame) -> DataFrame:
    return frame.selectExpr("*", *DECLARED)


def _value(values: list[Any], n: int) -> Any:
    return None if n % 5 == 4 else values[n % len(values)]


def others(spark: SparkSession) -> DataFrame:
    rows = [(f"key {n}", date(2020, 1, 1 + n % 2), DAY + timedelta(minutes=1), n) for n in range(N)]
    return spark.createDataFrame(rows, "k STRING, d DATE, at TIMESTAMP, w INT")


def join(left: DataFrame, right: DataFrame) -> Any:
    return pt.join(
        pt.stream(left, name="A", key=["k", "d"], time="ts", window="1 hour"),
        pt.stream(right, name="B", key=["k", "d"], time="at", window="1 hour"),
        how="full",
    )


def counted(frame: DataFrame) -> Counter[str]:
    """Rows as a multiset of texts, which tell NaN and -0.0."""
    return Counter(repr(row.asDict(recursive=True)) for row in frame.collect())


def check_types(results: DataFrame, left: DataFrame) -> None:
    """The left columns are of the types they were of."""
    found = {field.name: field.dataType for field in results.schema}
    assert {field.name: found[field.name] for field in left.schema} == {f.name: f.dataType for f in left.schema}


def check_rows(results: DataFrame, left: DataFrame, right: DataFrame) -> None:
    """Every row of both sides is there once, and its values are as they were."""
    assert counted(results.select(*left.columns)) == counted(left)
    assert counted(results.select("k", "d", "at", "w")) == counted(right)


def test_a_batch_join_keeps_every_type(elsewhere: SparkSession) -> None:
    left, right = declared(everything(elsewhere)), others(elsewhere)
    results = join(left, right).results
    check_types(results, left)
    check_rows(results, left, right)


def test_a_streaming_join_keeps_every_type_in_its_state(elsewhere: SparkSession, tmp_path: Path) -> None:
    """The left tuples are stored by one run of the query and joined by another one, which is declared anew."""
    frames = everything(elsewhere), others(elsewhere)
    folders = [str(tmp_path / side) for side in ("left", "right")]
    out = str(tmp_path / "out")
    (tmp_path / "right").mkdir()

    def read() -> tuple[DataFrame, DataFrame]:
        sources = zip(frames, folders, strict=True)
        left, right = (elsewhere.readStream.schema(each.schema).parquet(path) for each, path in sources)
        return declared(left), right

    for frame, folder in zip(frames, folders, strict=True):
        frame.coalesce(1).write.mode("append").parquet(folder)
        writer = join(*read()).results.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(out).awaitTermination()
    results = join(*read()).results
    check_types(results, read()[0])
    check_rows(elsewhere.read.schema(results.schema).parquet(out), declared(frames[0]), frames[1])


# Names

NAMED = {
    "A": pa.schema(
        [
            ("the.key", pa.int64()),
            ("the time", pa.int64()),
            ("a`b.c", pa.struct([("x.y", pa.list_(pa.int32())), ("z", pa.string())])),
            (".d", pa.string()),
            ("`p.p`", pa.string()),
        ]
    ),
    "B": pa.schema([("the.key", pa.int64()), ("the time", pa.int64()), ("`p.p`", pa.string())]),
}
ROWS: dict[str, list[dict[str, Any]]] = {
    "A": [
        {"the.key": 1, "the time": 1, "a`b.c": {"x.y": [1, None], "z": "z"}, ".d": "d"},
        {"the.key": 2, "the time": 2, "a`b.c": None, ".d": "d"},
        {"the.key": 2, "the time": 3, "a`b.c": {"x.y": None, "z": None}, ".d": None},
        {"the time": 9, "`p.p`": "<*,*,*,*>"},
    ],
    "B": [{"the.key": 1, "the time": 4}, {"the.key": 2, "the time": 5}, {"the time": 9, "`p.p`": "<*,*>"}],
}


def named_views(source: Callable[[str], Any]) -> dict[str, Any]:
    """A join of a join, groups by its key, and others: columns are looked up by name on every way."""
    left, right, again = (
        pt.stream(
            source(kind), name=name, key="the.key", time="the time", window=100, punctuations=pt.rows_with("`p.p`")
        )
        for name, kind in (("A", "A"), ("B", "B"), ("C", "B"))
    )
    joined = pt.join(left, right)
    aggregates = {"n.n": pt.count(), "`first": pt.first("a`b.c"), ".last": pt.last("the time_right")}
    with pytest.warns(pt.LateGroupsWarning):
        apart = joined.group_by(".d").agg(**aggregates)
    chained = pt.join(pt.stream(joined, name="AB", window=100), again, where=pt.left(".d") == "d")
    return {"chained": chained.results, "groups": joined.group_by("the.key").agg(**aggregates), "apart": apart}


@pytest.mark.parametrize("streaming", [False, True])
def test_names_are_taken_as_they_are(spark: SparkSession, tmp_path: Path, streaming: bool) -> None:
    tables = {kind: pa.Table.from_pylist(rows, schema=NAMED[kind]) for kind, rows in ROWS.items()}
    for kind, table in tables.items():
        write_files(tmp_path / kind, [table])
    wanted = named_views(tables.__getitem__)
    found = named_views(lambda kind: read_files(spark, tmp_path / kind, NAMED[kind], streaming))
    for name, frame in found.items():
        table = Running(frame, tmp_path / "checkpoint" / name).table if streaming else frame.toArrow()
        assert table.column_names == wanted[name].column_names
        assert Counter(map(repr, table.to_pylist())) == Counter(map(repr, wanted[name].to_pylist()))
        assert len(table) > 0


def test_a_type_that_python_cannot_have_is_refused(spark: SparkSession) -> None:
    frame = spark.sql("SELECT 1 AS k, TIMESTAMP'2020-01-01' AS ts, INTERVAL '1-2' YEAR TO MONTH AS age")
    with pytest.raises(pt.ColumnError, match="column 'age' is of type interval year to month"):
        pt.stream(frame, name="A", key="k", time="ts")


def test_decimals_with_more_digits_than_spark_has_are_refused(spark: SparkSession) -> None:
    a, b = (
        pt.stream(
            spark.sql(f"SELECT CAST(1 AS {dtype}) AS k, TIMESTAMP'2020-01-01' AS ts"),
            name=name,
            key="k",
            time="ts",
            window=1,
        )
        for name, dtype in (("A", "DECIMAL(38,18)"), ("B", "DECIMAL(30,0)"))
    )
    with pytest.raises(pt.ColumnError, match=r"column 'k' would be of type decimal256\(48, 18\), .* cast"):
        pt.join(a, b)


# Keys

KEYS: dict[str, tuple[str, list[Any], str | None]] = {
    "boolean": ("BOOLEAN", [True, False], "true"),
    "short": ("SMALLINT", [1, -7], "1"),
    "double": ("DOUBLE", [NAN, 0.5, float("inf")], "nan"),
    "string": ("STRING", ["a,b", "ä", ""], '"a,b"'),
    "binary": ("BINARY", [b"\x00\xff", b""], None),
    "decimal": ("DECIMAL(38,18)", [Decimal("1.250000000000000000"), LARGE, SMALL], "1.250000000000000000"),
    "date": ("DATE", [date(2020, 2, 29), date(1, 1, 1)], "2020-02-29"),
    "timestamp": ("TIMESTAMP", [FIRST, LAST], "1970-01-01T00:00:00.000001Z"),
    "local timestamp": ("TIMESTAMP_NTZ", [FIRST, LAST], "1970-01-01T00:00:00.000001"),
    "interval": ("INTERVAL DAY TO SECOND", [timedelta(days=2), timedelta(microseconds=-1)], None),
    "struct": ("STRUCT<x:INT,y:STRING>", [Row(x=1, y="a"), Row(x=1, y=None)], None),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_every_type_join_and_end(spark: SparkSession, name: str) -> None:
    """The first key is ended by both streams: by one with a pattern, where the type has a form in text."""
    sql, values, text = KEYS[name]
    tuples = [(value, DAY, f"{place}") for place, value in enumerate([*values, None])]
    ours: list[tuple[Any, ...]] = [(*row, None) for row in tuples]
    if text is not None:
        ours += [
            (None, DAY + timedelta(seconds=1), None, f"<{text},*,*>"),
            (None, DAY + timedelta(seconds=9), "last", None),
        ]
    theirs = [(*row, place == 0) for place, row in enumerate(tuples)]
    left = spark.createDataFrame(ours, f"k {sql}, ts TIMESTAMP, v STRING, p STRING")
    right = spark.createDataFrame(theirs, f"key {sql}, at TIMESTAMP, w STRING, f BOOLEAN")
    joined = pt.join(
        pt.stream(left, name="A", key="k", time="ts", window="1 hour", punctuations=pt.rows_with("p")),
        pt.stream(right, name="B", key="key", time="at", window="1 hour", punctuations=pt.when("f")),
        how="right",
        buckets=2,
    )
    everything = joined.all.collect()
    assert joined.results.schema["k"].dataType == left.schema["k"].dataType
    matched = [(repr(value), f"{place}", f"{place}") for place, value in enumerate(values)]
    results = Counter((repr(row.k), row.v, row.w) for row in everything if row._kind == "result")
    assert results == Counter([*matched, ("None", None, f"{len(values)}")])
    (ended,) = [row for row in everything if row._kind == "punctuation"]
    assert (repr(ended.k), ended._reason) == (repr(values[0]), "both")
    if text is not None:
        assert (ended._pattern, ended._ts) == (f"<{text}>", DAY + timedelta(seconds=1))


def test_composite_keys_join_and_end(spark: SparkSession) -> None:
    keys = [(1, "a"), (1, "b"), (2, "a"), (1, None), (None, None)]
    left = spark.createDataFrame([(*key, DAY, None) for key in keys], "x INT, y STRING, ts TIMESTAMP, p STRING")
    said = spark.createDataFrame([(None, None, DAY, "<1,{a,b},*>")], left.schema)
    right = spark.createDataFrame([(y, x, DAY, True) for x, y in keys], "y STRING, z SMALLINT, at TIMESTAMP, f BOOLEAN")
    joined = pt.join(
        pt.stream(left.unionAll(said), name="A", key=["x", "y"], time="ts", punctuations=pt.rows_with("p")),
        pt.stream(right, name="B", key=["z", "y"], time="at", punctuations=pt.when("f")),
        buckets=3,
    )
    results = Counter((row.x, row.y) for row in joined.results.collect())
    assert results == Counter(keys[:3])
    assert joined.results.columns == ["x", "y", "ts", "at", "f"]
    ended = {(row.x, row.y, row.pattern) for row in joined.punctuations.collect()}
    assert ended == {(1, "a", "<1,a>"), (1, "b", "<1,b>"), (2, "a", "<2,a>")}


def collated(frame: DataFrame, column: str = "k", collation: str = "UTF8_LCASE") -> DataFrame:
    return frame.withColumn(column, collate(col(column), collation))


def plain(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT 'a' AS k, TIMESTAMP'2020-01-01' AS ts, 'b' AS v")


def stream(frame: DataFrame, name: str = "A", **options: Any) -> pt.Stream:
    return pt.stream(frame, **({"name": name, "key": "k", "time": "ts", "window": "1 hour"} | options))


def test_collated_keys_are_refused(spark: SparkSession) -> None:
    frame, other = collated(plain(spark)), plain(spark)
    with pytest.raises(pt.ColumnError, match=r"stream 'A': key 'k' has the collation UTF8_LCASE.*lower\(k\)"):
        stream(frame)
    inside = frame.select(struct("k").alias("k"), "ts")
    with pytest.raises(pt.ColumnError, match="UTF8_LCASE"):
        stream(inside)
    with pytest.raises(pt.ColumnError, match="stream 'endings of A': key 'k' has the collation UTF8_LCASE"):
        stream(other, punctuations=pt.endings(frame, key="k", time="ts"))
    joined = pt.join(stream(collated(other, "v", "UNICODE_CI")), stream(other.select("k", "ts"), "B"))
    with pytest.raises(pt.ColumnError, match="key 'v' has the collation UNICODE_CI"):
        pt.stream(joined, key="v", window="1 hour")


def test_collated_columns_come_through_but_are_not_compared(spark: SparkSession) -> None:
    left, right = collated(plain(spark), "v"), plain(spark).withColumnRenamed("v", "w")
    joined = pt.join(stream(left), stream(right, "B"))
    assert joined.results.schema["v"].dataType == left.schema["v"].dataType
    with pytest.warns(pt.LateGroupsWarning, match="of punctuated streams"):  # as over tables
        groups = joined.group_by("k").agg(v=pt.last("v"))
    assert [row.v for row in groups.collect()] == ["b"]
    for grouping, aggregate in ((("k", "v"), pt.count()), (("k",), pt.max("v"))):
        with pytest.raises(pt.AggregateError, match="'v' has the collation UTF8_LCASE"):
            joined.group_by(*grouping).agg(x=aggregate)
    with pytest.raises(pt.PredicateError, match="'v' has the collation UTF8_LCASE"):
        pt.join(stream(left), stream(right, "B"), where=pt.left("v") == pt.right("w"))
