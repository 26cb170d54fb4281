"""Joins over DataFrames: streaming ones equal the oracle batch by batch, batch ones equal tables."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.model.batch import Row
from punctuated.model.pattern import WILDCARD, Constant, OneOf, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JOINS_OF_TWO, LEFT, RIGHT, JoinSpec, JoinType, OnViolation, Side, StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, Window
from punctuated.spark.session.local import write_files
from punctuated.spark.session.session import REQUIRED
from punctuated.testing import reference
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import COLUMNS, Batch, Case, Object
from spark.spark_harness import (
    PATTERN,
    Metrics,
    Running,
    endings_table,
    ends,
    in_band_table,
    observe,
    read_files,
)

KINDS = ("results", "unmatched", "punctuations", "rejected")
VIEWS = ("results", "punctuations", "rejected")
AGGREGATES = {
    "n": pt.count(),
    "known": pt.count("v"),
    "total": pt.sum("v"),
    "least": pt.min("w"),
    "most": pt.max("w"),
    "mean": pt.mean("v"),
    "variance": pt.variance("w"),
    "stddev": pt.stddev("v"),
    "first": pt.first("v"),
    "last": pt.last("w"),
}


WINDOWS: list[Window] = [TimeWindow(12), TimeWindow(8), TimeWindow(15, 2), CountWindow(3, per_key=True), None]


@cache
def rich_case(how: JoinType) -> Case:
    """Both streams are disordered, break promises and are punctuated in every way; not as Hypothesis simplifies them.

    Streams as `testing.strategies` draws them, but few and long.
    """
    random = Random(how.value)
    batches: list[Batch] = [
        ([_object(random, 10 * number) for _ in range(40)], [_object(random, 10 * number) for _ in range(40)])
        for number in range(3)
    ]
    left, right = (
        StreamSpec(
            name="AB"[side],
            columns=COLUMNS[side],
            key=("k",),
            time="ts",
            window=random.choice(WINDOWS),
            lateness_us=random.choice([0, 2, 4]),
            max_ahead_us=random.choice([None, 9]),
            on_violation=random.choice([OnViolation.REJECT, OnViolation.ACCEPT]),
            flag="f" if side == LEFT else None,
            clustered=side == RIGHT and random.random() < 0.5,
            order=random.choice([None, COLUMNS[side][2]]),
            punctuated=True,
        )
        for side in Side
    )
    return Case(JoinSpec((left, right), how), batches)


def _object(random: Random, around: int) -> Object:
    ts, kind = random.randint(around, around + 14), random.random()
    if kind < 0.8:
        return Row((random.choice([*range(12), None]), ts, random.choice([None, 0, 1, 2]), random.random() < 0.1))
    key = random.randint(0, 14)
    patterns: dict[str, Pattern] = random.choice(
        [
            {"key": Constant(key)},
            {"key": Constant(key)},
            {"key": OneOf((key, key + 1))},
            {"key": Range(key, key + random.randint(1, 4), high_closed=False)},
            {"time": Range(None, ts - 8)},
            {"payload": Constant(2), "key": Constant(key)},
        ]
    )
    in_band = kind < 0.95 or not isinstance(patterns.get("key"), Constant) or "payload" in patterns
    key_pattern, time, payload = (patterns.get(name, WILDCARD) for name in ("key", "time", "payload"))
    return Punctuation(ts, (key_pattern, time, payload, WILDCARD), in_band)


@dataclass(frozen=True)
class Inputs:
    """Both streams of a case as tables, batch by batch: in-band rows, and endings."""

    spec: JoinSpec
    rows: tuple[list[pa.Table], list[pa.Table]]
    endings: tuple[list[pa.Table], list[pa.Table]]

    @staticmethod
    def of(spec: JoinSpec, batches: Sequence[Batch]) -> "Inputs":
        left, right = ([in_band_table(spec.streams[side], batch[side]) for batch in batches] for side in Side)
        ours, theirs = ([endings_table(spec.streams[side], batch[side]) for batch in batches] for side in Side)
        return Inputs(spec, (left, right), (ours, theirs))

    def whole(self) -> "Inputs":
        """All in one batch."""
        left, right = ([pa.concat_tables(tables)] for tables in self.rows)
        ours, theirs = ([pa.concat_tables(tables)] for tables in self.endings)
        return Inputs(self.spec, (left, right), (ours, theirs))

    def on_tables(self) -> Any:
        """The join over tables."""
        return self._join(self.rows, self.endings)

    def on_spark(self, spark: SparkSession, folder: Path, streaming: bool, buckets: int | None = None) -> Any:
        """The join over DataFrames that read files, one file per batch and stream."""

        def read(name: str, tables: Sequence[pa.Table]) -> DataFrame:
            return read_files(spark, write_files(folder / name, tables), tables[0].schema, streaming)

        rows = [read(f"rows {side:d}", self.rows[side]) for side in Side]
        endings = [read(f"endings {side:d}", self.endings[side]) for side in Side]
        return self._join(rows, endings, buckets=buckets)

    def _join(self, rows: Sequence[Any], endings: Sequence[Any], **options: Any) -> Any:
        left, right = (self._stream(side, rows[side], endings[side]) for side in Side)
        return pt.join(left, right, how=self.spec.how, algorithm="pwjoin", **options)

    def _stream(self, side: Side, rows: Any, endings: Any) -> pt.Stream:
        stream = self.spec.streams[side]
        sources = pt.rows_with(PATTERN) | pt.endings(endings, key="key", time="at")
        sources = sources | pt.when(stream.flag) if stream.flag is not None else sources
        sources = sources | pt.unique() if stream.unique else sources
        made: pt.Stream = pt.stream(
            rows,
            name=stream.name,
            key=list(stream.key),
            time=stream.time,
            window=stream.window,
            punctuations=sources | pt.clustered() if stream.clustered else sources,
            lateness=stream.lateness_us,
            max_ahead=stream.max_ahead_us,
            on_violation=stream.on_violation,
            order=stream.order,
        )
        return made


def ended_inputs(how: JoinType) -> Inputs:
    """The inputs of the rich case, and the end of both streams as a last batch."""
    case = rich_case(how)
    return Inputs.of(case.spec, [*case.batches, ends(case.spec, case.batches)])


def counted(table: pa.Table) -> Counter[str]:
    """The rows of a table as a multiset."""
    return Counter(json.dumps(row, default=str, sort_keys=True) for row in table.to_pylist())


# Streaming: some queries run at a time, since each waits for its checkpoint most of the time

AT_A_TIME = 4


@pytest.fixture(scope="module")
def running(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Running]:
    """A query for each join type, and for each view of the full join."""
    folder = tmp_path_factory.mktemp("joined")
    joined = {how: ended_inputs(how).on_spark(spark, folder / how, streaming=True, buckets=3) for how in JOINS_OF_TWO}
    full = joined[JoinType.FULL]
    frames = {how.value: each.all for how, each in joined.items()} | {view: getattr(full, view) for view in VIEWS}
    frames |= {"groups": full.group_by("k", "v").agg(**AGGREGATES), "groups apart": grouped_apart(full)}
    queries: dict[str, Running] = {}
    for name, each in frames.items():
        while sum(query.is_active for query in queries.values()) >= AT_A_TIME:
            time.sleep(0.05)
        queries[name] = Running(each, folder / "checkpoint" / name)
    return queries


@pytest.mark.parametrize("how", JOINS_OF_TWO)
def test_a_streaming_join_equals_the_oracle(running: dict[str, Running], how: JoinType) -> None:
    case, query, metrics = rich_case(how), running[how.value], Metrics()

    def run(spec: JoinSpec, _: Sequence[Batch]) -> Iterator[Observed]:
        for table, said in zip(query.batches, query.metrics, strict=True):
            metrics.note(said)
            yield observe(spec, table.to_pylist(), metrics)

    check_equals_oracle(lambda spec, batches: list(run(spec, batches)), case.spec, case.batches)


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_of_a_streaming_join_is_a_part_of_all(running: dict[str, Running], view: str) -> None:
    everything, part = running["full"].table, running[view].table
    assert len(part) > 0
    assert counted(part) == counted(part_of_all(everything, view, part.column_names))


def part_of_all(everything: pa.Table, view: str, names: Sequence[str]) -> pa.Table:
    """The rows of one view among all, under its names."""
    rows = everything.filter(pa.array([kind == view.removesuffix("s") for kind in everything["_kind"].to_pylist()]))
    sources = [name if name in everything.column_names else f"_{name}" for name in names]
    return rows.select(sources).rename_columns(list(names))


def test_groups_of_a_streaming_join_equal_the_oracle_and_tables(running: dict[str, Running]) -> None:
    case = rich_case(JoinType.FULL)
    asked = {name: (each.function, each.column) for name, each in AGGREGATES.items()}
    batches = [*case.batches, ends(case.spec, case.batches)]
    wanted = reference.groups(case.spec, reference.join(case.spec, batches, end=False), ["k", "v"], asked)
    seen = [batch.to_pylist() for batch in running["groups"].batches]
    assert [Counter(map(_frozen, groups)) for groups in seen] == [Counter(map(_frozen, groups)) for groups in wanted]
    tables = ended_inputs(JoinType.FULL).on_tables().group_by("k", "v").agg(**AGGREGATES)
    assert counted(tables) == counted(running["groups"].table)


def grouped_apart(joined: Any) -> Any:
    """Groups that only the end of both streams can finish."""
    with pytest.warns(pt.LateGroupsWarning, match="final only when both streams have ended"):
        return joined.group_by("w").agg(**AGGREGATES)


def test_groups_apart_from_the_key_equal_tables(running: dict[str, Running]) -> None:
    tables = grouped_apart(ended_inputs(JoinType.FULL).on_tables())
    assert len(tables) > 1
    assert counted(tables) == counted(running["groups apart"].table)


def _frozen(group: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(group.values())


# Batch


def test_a_batch_join_equals_tables(spark: SparkSession, tmp_path: Path) -> None:
    """One batch of everything, and the end of both streams."""
    case = rich_case(JoinType.FULL)
    inputs = Inputs.of(case.spec, case.batches).whole()
    on_spark, on_tables = inputs.on_spark(spark, tmp_path, streaming=False, buckets=5), inputs.on_tables()
    for view in (*VIEWS, "all"):
        ours, theirs = getattr(on_spark, view).toArrow(), getattr(on_tables, view)
        assert len(theirs) > 0
        assert counted(ours.select(theirs.column_names)) == counted(theirs), view
    groups = [joined.group_by("k", "v").agg(**AGGREGATES) for joined in (on_spark, on_tables)]
    assert counted(groups[0].toArrow()) == counted(groups[1])


# Corrupt records


def test_corrupt_records_are_rejected_with_what_is_wrong(spark: SparkSession, tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.float64()), (PATTERN, pa.string())])
    rows = [
        {"k": 1, "ts": 1, "v": 0.5},
        {"k": 7, "ts": None, "v": 1.5},
        {"k": 2, "ts": 2, "v": 2.5},
        {"ts": 3, PATTERN: "<1,*"},
        {"ts": 4, PATTERN: "<1,*,*>"},
        {"ts": 5, PATTERN: "<x,*,*>"},
        {"k": None, "ts": None, "v": None, PATTERN: "<2,*,*>"},
    ]
    others = pa.table({"k": [1, 2], "at": [2, 3]})
    stopped = pa.table(
        {"key": [1, 5, None], "at": [None, 6, 7]}, schema=pa.schema([("key", pa.int64()), ("at", pa.int64())])
    )
    tables = {"left": pa.Table.from_pylist(rows, schema=schema), "right": others, "endings": stopped}
    seen = []
    for streaming in (True, False):
        left, right, endings = (
            read_files(spark, write_files(tmp_path / f"{name} {streaming}", [table]), table.schema, streaming)
            for name, table in tables.items()
        )
        sources = pt.rows_with(PATTERN) | pt.endings(endings, key="key", time="at")
        joined = pt.join(
            pt.stream(left, name="A", key="k", time="ts", window=10, punctuations=sources),
            pt.stream(right, name="B", key="k", time="at"),
        )
        rejected = Running(joined.rejected, tmp_path / "checkpoint").table if streaming else joined.rejected.toArrow()
        assert joined.results.schema.names == ["k", "ts", "v", "at"]
        assert set(rejected["stream"].to_pylist()) == {"A"}
        assert set(rejected["reason"].to_pylist()) == {"corrupt"}
        assert rejected["ts"].null_count == len(rejected)
        seen.append([json.loads(row) for row in rejected["row"].to_pylist()])
    assert sorted(map(str, seen[0])) == sorted(map(str, seen[1]))
    errors = {tuple(value for value in each["row"].values() if value is not None): each["error"] for each in seen[0]}
    in_text = "at position {}, in the punctuation {!r}".format
    assert errors == {
        (7, 1.5): "its time is null",
        ("<2,*,*>",): "its time is null",
        (1,): "its time is null",
        (3, "<1,*"): in_text("4: expected ',' or '>', found the end of the text", "<1,*"),
        (5, "<x,*,*>"): in_text("1: expected a value of type int64, found 'x'", "<x,*,*>"),
    }


# What a user is told


def frame(spark: SparkSession, streaming: bool = False, v: str = "v") -> DataFrame:
    if streaming:
        return spark.readStream.format("rate").load().selectExpr("value AS k", "timestamp AS ts", f"value AS {v}")
    return spark.sql(f"SELECT 1L AS k, TIMESTAMP'2020-01-01' AS ts, 2L AS {v}")


def stream(data: Any, name: str = "A", **options: Any) -> pt.Stream:
    made: pt.Stream = pt.stream(data, **({"name": name, "key": "k", "time": "ts", "window": "1 hour"} | options))
    return made


def test_explain_names_the_buckets(spark: SparkSession) -> None:
    joined = pt.join(stream(frame(spark), "A"), stream(frame(spark), "B"), how="left", buckets=7)
    assert joined.explain().splitlines() == [
        "left outer join of A and B on k",
        "│  algorithm: pwjoin, purge at every punctuation",
        "│  estimates: none, since rates are known only once there are rows",
        "│  buckets: 7",
        "│  output punctuations: none, since no stream brings any",
        "│  rows out: a DataFrame, Spark's rows",
        "├─ A: left stream",
        "│    key: k; time: ts",
        "│    rows: a DataFrame, Spark's rows",
        "│    window: 1 h; lateness 0 s",
        "│    punctuations: from nowhere",
        "│    state: bounded by its window as B goes on",
        "└─ B: right stream",
        "     key: k; time: ts",
        "     rows: a DataFrame, Spark's rows",
        "     window: 1 h; lateness 0 s",
        "     punctuations: from nowhere",
        "     state: bounded by its window as A goes on",
    ]
    by_default = pt.join(stream(frame(spark), "A"), stream(frame(spark), "B"))
    assert "│  buckets: 2\n" in by_default.explain()
    whole = pt.join(stream(frame(spark), "A", window=pt.rows(9)), stream(frame(spark), "B"))
    assert "last 9 tuples, in one bucket" in whole.explain()
    assert "│  buckets: 1\n" in whole.explain()


def test_plans_of_groups_and_chains_say_where_they_are_made(spark: SparkSession) -> None:
    ended = stream(frame(spark), "A", punctuations=pt.unique())
    joined = pt.join(ended, stream(frame(spark, v="w"), "B"))
    groups = joined.group_by("k").agg(n=pt.count())
    assert "made: in the step of the join" in pt.explain(groups)
    assert "aggregates: n = count()" in pt.explain(groups)
    assert "made: in a step of their own behind the join" in joined.group_by("v").explain()
    outer = pt.join(pt.stream(groups, name="G", window="1 hour"), stream(frame(spark, v="u"), "C"))
    kinds = [node.kind.value for node in outer.plan().nodes()]
    assert kinds == ["join", "stream", "groups", "join", "stream", "stream", "stream"]
    assert "rows: Spark's rows, from the step below" in outer.explain()
    assert outer.explain(format="svg").startswith("<svg")
    with pytest.raises(pt.ExplainError, match="format='html'"):
        outer.explain(format="html")


def test_a_session_that_is_not_configured_is_told_the_lines_to_set(spark: SparkSession) -> None:
    bare = spark.newSession()
    for name in REQUIRED:
        bare.conf.set(name, "1" if name.endswith("Version") else "org.example.Other")
    with pytest.raises(pt.SessionError) as caught:
        pt.join(stream(frame(bare, streaming=True), "A"), stream(frame(bare, streaming=True), "B"))
    for name, value in REQUIRED.items():
        assert f'spark.conf.set("{name}", "{value}")' in str(caught.value)
    pt.join(stream(frame(bare), "A"), stream(frame(bare), "B"))  # a batch join needs nothing
    pt.configure(bare)
    pt.join(stream(frame(bare, streaming=True), "A"), stream(frame(bare, streaming=True), "B"))


TABLE = pa.table({"k": [1], "ts": [1], "v": [1]})


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda s: joined_on(frame(s), frame(s, True)), pt.StreamError, "some inputs are streaming"),
        (lambda s: joined_on(frame(s), TABLE), pt.StreamError, "some streams are tables"),
        (lambda s: stream(frame(s), punctuations=pt.endings(TABLE, key="k", time="ts")), pt.StreamError, "endings"),
        (lambda s: stream(frame(s), key="kk"), pt.ColumnError, "no column 'kk'; did you mean 'k'?"),
        (lambda s: stream(frame(s), time="when"), pt.ColumnError, "no column 'when'; it has: k, ts, v"),
        (lambda s: stream(frame(s), punctuations=pt.when("v")), pt.ColumnError, "needs a boolean column"),
        (lambda s: stream(frame(s).selectExpr("k", "ts", "k")), pt.ColumnError, "two columns of the name 'k'"),
        (lambda s: joined_on(frame(s), frame(s), buckets=0), pt.StreamError, "buckets=0: give a whole number"),
        (lambda s: joined_on(frame(s), frame(s), buckets=1025), pt.StreamError, "from 1 to 1,024"),
        (lambda s: joined_on(frame(s), frame(s), window=pt.rows(3), buckets=2), pt.StreamError, "needs one bucket"),
        (lambda s: joined_on(frame(s), frame(s)).group_by().agg(n=pt.count()), pt.AggregateError, "at least one"),
        (lambda s: joined_on(frame(s), frame(s)).group_by("k").agg(n=pt.sum("w")), pt.AggregateError, "no column 'w'"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_when_it_is_built(
    spark: SparkSession, build: Callable[[SparkSession], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        build(spark)
    assert message in str(caught.value)


def joined_on(left: Any, right: Any, window: Any = "1 hour", buckets: int | None = None) -> Any:
    return pt.join(stream(left, window=window), stream(right, "B"), buckets=buckets)
