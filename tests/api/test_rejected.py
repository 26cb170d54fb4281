"""Rejected rows are told, once for each stream and reason, to those who look at results."""

import warnings
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt

THIRD = pa.table({"k": [1], "c": [3]})


def joined() -> Any:
    """The left stream breaks a promise, the right one brings two late rows."""
    left = pa.table({"k": [1, 2, 1], "ts": [0, 1, 2]})
    right = [pa.table({"k": [1], "at": [50]}), pa.table({"k": [2, 2, 1], "at": [3, 4, 60]})]
    return pt.join(
        pt.stream(left, name="A", key="k", time="ts", window=100, punctuations=pt.unique()),
        pt.stream(right, name="B", key="k", time="at", window=100),
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda join: join.results,
        lambda join: join.group_by("k").agg(n=pt.count()),
        lambda join: pt.join(pt.stream(join, window=5), pt.stream(THIRD, key="k", time="c", window=5)),
    ],
    ids=["results", "groups", "chained"],
)
def test_who_looks_at_results_is_told_of_rows_that_they_lack(ask: Any) -> None:
    join = joined()
    with pytest.warns(pt.RejectedRowsWarning) as told:
        ask(join)
    messages = sorted(str(each.message) for each in told if each.category is pt.RejectedRowsWarning)
    assert [message.split(",")[0] for message in messages] == [
        "stream 'A': 1 row rejected as promise",
        "stream 'B': 2 rows rejected as late",
    ]
    assert all("joined.rejected" in message for message in messages)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.RejectedRowsWarning)
        ask(join)  # once is enough


def test_who_looks_at_them_is_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.RejectedRowsWarning)
        assert len(joined().rejected) == 3


def test_the_warning_points_to_the_line_that_asked() -> None:
    with pytest.warns(pt.RejectedRowsWarning) as told:
        _ = joined().results
    assert {each.filename for each in told} == {__file__}


def test_metrics_count_by_stream_and_reason() -> None:
    (last,) = joined().metrics.slice(len(joined().metrics) - 1).to_pylist()
    counted = {name: n for name, n in last.items() if name.startswith("rejected") and n}
    assert counted == {"rejected": 3, "rejected_promise_left": 1, "rejected_late_right": 2}
