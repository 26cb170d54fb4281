"""Nested columns leave a step as blobs; no JVM is needed to see what they hold."""

import numpy as np
import pyarrow as pa
import pytest

from punctuated.spark.metrics.reports import REPORT_COLUMN, report_frame, with_empty_reports
from punctuated.spark.step import emit as nested
from punctuated.spark.step.emit import as_frames

SCHEMA = pa.schema([("k", pa.int64()), ("l", pa.list_(pa.int64())), ("lacking", pa.struct([("x", pa.string())]))])


def test_a_table_is_cut_into_blobs_and_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nested, "_LARGEST", 1_000)
    keys = np.arange(1_000)
    table = pa.table({"k": keys, "l": pa.array([[int(key), None] for key in keys])})
    frames = list(with_empty_reports(as_frames(table, SCHEMA)))
    assert len(frames) > 10
    assert all(
        list(frame.columns) == [nested.PACKED, REPORT_COLUMN] and frame[REPORT_COLUMN].isna().all() for frame in frames
    )
    packed = [pa.RecordBatch.from_pandas(frame[[nested.PACKED]]) for frame in frames]
    found = pa.Table.from_batches(nested.unpack(iter(packed)))
    assert found.schema == SCHEMA
    assert found.drop_columns(["lacking"]).equals(table)
    assert found["lacking"].null_count == len(table)


def test_metrics_and_nothing_leave_a_step_like_everything_else() -> None:
    frame = report_frame(nested.leaving_schema(SCHEMA), "{}")
    assert frame[REPORT_COLUMN].tolist() == ["{}"]
    assert frame[nested.PACKED].isna().all()
    assert list(as_frames(SCHEMA.empty_table(), SCHEMA)) == []
    assert list(nested.unpack(iter([]))) == []
