"""Whatever chunks a table comes in, PySpark takes what leaves a step."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.conversion import PandasToArrowConversion
from pyspark.sql.pandas.types import from_arrow_schema

from punctuated.model.aggregate import Aggregate
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.output.batch_result import REJECTED_SCHEMA, BatchResult, RenderedTuples
from punctuated.output.groups.grouping import Grouping
from punctuated.output.punctuations import OutputPunctuations
from punctuated.output.views import View, punctuation_schema
from punctuated.spark.session.query import Query
from punctuated.spark.state.bucket import new_bucket
from punctuated.spark.step import emit
from punctuated.spark.step.emit import Emitter, as_frames, in_large_parts
from spark.spark_harness import make_query

COLUMNS = ("k", "ts", "v", "f")
STREAMS = tuple(StreamSpec(name, COLUMNS, ("k",), "ts", TimeWindow(100), punctuated=True) for name in "AB")
QUERY = make_query(JoinSpec(STREAMS), 1)
GROUPED = QUERY.seen_as(View.GROUPS, Grouping(("k",), {"n": Aggregate("count"), "least": Aggregate("min", "v_left")}))
MANY = 300_000  # rows: more than a frame holds


def in_chunks(schema: pa.Schema, n_chunks: int = 3) -> pa.Table:
    """A row per chunk, null but for its time."""
    row = {"ts": pa.array([0])}
    one = pa.table([row.get(field.name, pa.nulls(1, field.type)) for field in schema], schema=schema)
    return pa.concat_tables([one] * n_chunks)


def part() -> BatchResult:
    """A part of everything, in chunks."""
    results = in_chunks(QUERY.join.results)
    schema, zeros = punctuation_schema(["k"], [pa.int64()]), np.zeros(3, np.int64)
    punctuations = OutputPunctuations(schema, lambda: [pa.nulls(3, pa.int64())], zeros, zeros, pa.array(["window"]))
    rejected = RenderedTuples(in_chunks(REJECTED_SCHEMA))
    return BatchResult([results], [zeros], [punctuations], [], [rejected], watermark=5, latest_ts=5)


def taken_by_spark(query: Query, frames: Iterable[pd.DataFrame]) -> int:
    """Rows of frames, each of which PySpark turns into an Arrow batch as it does behind a step."""
    schema = from_arrow_schema(query.join.schema)
    return sum(PandasToArrowConversion.convert(frame, schema, timezone="UTC").num_rows for frame in frames)


@pytest.mark.parametrize(
    ("view", "n_rows"),
    [(View.RESULTS, 3), (View.PUNCTUATIONS, 3), (View.REJECTED, 3), (View.ALL, 9), (View.CHAIN, 10)],
)
def test_every_view_leaves_in_one_piece_whatever_chunks_it_has(view: View, n_rows: int) -> None:
    query = QUERY.seen_as(view)
    assert taken_by_spark(query, Emitter(query.join, new_bucket(query, 0)).frames(part())) == n_rows


def test_many_groups_that_end_at_once_leave_in_one_piece() -> None:
    """More than one frame holds, in chunks that end anywhere."""
    groups = pa.table({"k": np.arange(MANY), "n": np.ones(MANY, np.int64), "least": np.arange(MANY)})
    chunks = [groups.slice(start, 70_001) for start in range(0, MANY, 70_001)]
    assert taken_by_spark(GROUPED, as_frames(pa.concat_tables(chunks), GROUPED.join.schema)) == MANY


def test_small_parts_leave_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "_FEW", 5)
    parts = [BatchResult([pa.table({"n": [1] * n})]) for n in (2, 2, 2, 7, 1)]
    last = BatchResult(watermark=9)
    found = list(in_large_parts(iter([*parts, last])))
    assert [sum(map(len, each.results)) for each in found] == [6, 7, 1]
    assert found[-1].watermark == 9
    assert list(in_large_parts(iter([parts[3]]))) == [parts[3]]  # nothing follows a last part that is large
