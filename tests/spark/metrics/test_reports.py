"""Reports of buckets reach the driver whole, and each once."""

from typing import Any

import pytest

from punctuated.spark.metrics import reports
from punctuated.spark.metrics.reading import Reports, reported_in
from punctuated.spark.metrics.reports import _MergedReports


def said(batch: int, bucket: int, text: str, join: str = "") -> Any:
    return {("q", batch): {join: {bucket: text}}}


def test_reports_are_gathered_and_the_last_word_of_a_bucket_counts() -> None:
    param = _MergedReports()
    gathered: Reports = {}
    for each in (said(0, 0, "a"), said(0, 1, "b"), said(0, 0, "c"), said(0, 0, "d", "A B"), said(1, 0, "e")):
        gathered = param.addInPlace(gathered, each)
    assert gathered == {("q", 0): {"": {0: "c", 1: "b"}, "A B": {0: "d"}}, ("q", 1): {"": {0: "e"}}}


def test_the_driver_remembers_the_last_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "_MOST", 3)
    param = _MergedReports()
    gathered: Reports = {}
    for batch in range(5):
        gathered = param.addInPlace(gathered, said(batch, 0, ""))
    assert list(gathered) == [("q", 2), ("q", 3), ("q", 4)]


def test_a_progress_that_nobody_reported_for_has_none() -> None:
    assert reported_in({"id": "unknown", "batchId": 0}) == {}
