"""Rejected tuples are rendered when they are read, and not before."""

from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.output import batch_result as rejected
from table_streams import declare


def late_join() -> Any:
    """Two tuples of A come too late, one of them with a number that JSON does not have."""
    ours = [
        pa.table({"k": [1], "ts": [9], "v": [1.0]}),
        pa.table({"k": [1, 2], "ts": [0, 1], "v": [float("nan"), 0.5]}),
    ]
    theirs = pa.table({"k": [1], "at": [9]})
    return pt.join(
        declare(ours, name="A", key="k", time="ts", window=9), declare(theirs, name="B", key="k", time="at", window=9)
    )


def test_rejected_rows_are_json() -> None:
    assert late_join().rejected.to_pylist() == [
        {"stream": "A", "reason": "late", "ts": 0, "row": '{"k": 1, "ts": 0, "v": "NaN"}'},
        {"stream": "A", "reason": "late", "ts": 1, "row": '{"k": 2, "ts": 1, "v": 0.5}'},
    ]


def test_only_views_that_show_them_render_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(rows: pa.Table) -> None:
        raise AssertionError("rendered")

    monkeypatch.setattr(rejected, "render_rows", refuse)
    joined = late_join()
    assert len(joined.results) == 1 and len(joined.punctuations) == 0
    assert joined.metrics["rejected"].to_pylist()[-1] == 2
    with pytest.warns(pt.LateGroupsWarning):
        joined.group_by("k").agg(n=pt.count())
    next_one = declare(pa.table({"k": [1], "t": [9]}), name="C", key="k", time="t", window=9)
    assert len(pt.join(pt.stream(joined, window=9), next_one).results) == 1
    for view in ("rejected", "all"):
        with pytest.raises(AssertionError, match="rendered"):
            getattr(joined, view)
