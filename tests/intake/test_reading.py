"""Rows that cannot be read: each is put aside with its place and the reason, and the others are read."""

import pyarrow as pa
import pytest

from punctuated.errors import ColumnError, PatternError, PunctuatedError
from punctuated.intake.reading import Reader, announce
from punctuated.model.pattern import Range
from punctuated.model.spec import StreamSpec
from punctuated.model.times import Fault

LONGEST = 2**63 - 1


def reader(key: pa.DataType, time: pa.DataType, common: pa.DataType | None = None) -> Reader:
    spec = StreamSpec("A", ("k", "ts"), ("k",), "ts", None, punctuated=True)
    return Reader(spec, "said", pa.schema([("k", key), ("ts", time)]), (common or key,))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<1,oops>", "expected a value of type int64, found 'oops'"),
        ("<3000000000,*>", "expected a value of type int32, found '3000000000'"),
        ("<-2147483649,*>", "expected a value of type int32"),
        ("<[1,3000000000],*>", "expected a value of type int32"),
        (f"<*,(,{LONGEST}]>", "beyond"),
        (f"<*,(,{LONGEST})>", "beyond"),
        (f"<*,(,{-LONGEST - 1}]>", "beyond"),
        (f"<*,(,{2**62}]>", "beyond"),
        (f"<*,{2**61}>", "beyond"),
        (f"<1,[3,{2**61}]>", "beyond"),
    ],
)
@pytest.mark.parametrize("common", [pa.int32(), pa.int64()])
def test_a_punctuation_that_no_tuple_can_match_is_a_fault(text: str, why: str, common: pa.DataType) -> None:
    ours = reader(pa.int32(), pa.int64(), common)
    said = [None, text, "<7,*>", f"<*,(,{2**60}]>"]
    table = pa.table({"k": pa.array([1, None, None, None], pa.int32()), "ts": [0, 1, 2, 3], "said": said})
    faults: list[Fault] = []
    batch = ours.read(table, faults)
    assert [place for place, _ in faults] == [1] and why in faults[0][1]
    assert len(batch.rows) == 1
    assert batch.endings[0].keys.to_pydict() == {"k": [7]} and batch.endings[0].ts.to_pylist() == [2]
    assert [(each.ts, each.patterns[1]) for each in batch.punctuations] == [(3, Range(None, 2**60))]
    with pytest.raises(PatternError, match="stream 'A', row 1: "):
        ours.read(table)


def test_rows_without_an_exact_time_are_faults_whatever_they_are() -> None:
    ours = reader(pa.int64(), pa.int64())
    rows = {"k": [1, 2, None, None, 5], "ts": [0, None, 2**61, None, 4], "said": [None, None, "<7,*>", "<8,x>", None]}
    faults: list[Fault] = []
    batch = ours.read(pa.table(rows), faults)
    assert faults == [
        (1, "its time is null"),
        (2, "its time is beyond ±2^60 µs"),
        (3, "its time is null"),
    ]
    assert batch.rows["k"].to_pylist() == [1, 5] and not batch.endings and not batch.punctuations


def test_keys_that_the_common_type_cannot_hold_are_faults() -> None:
    late = pa.array([0, 2**62, 5], pa.timestamp("s"))
    table = pa.table({"k": late, "ts": [1, 2, 3], "said": pa.nulls(3, pa.string())})
    ours = reader(pa.timestamp("s"), pa.int64(), pa.timestamp("us"))
    faults: list[Fault] = []
    assert ours.read(table, faults).rows["ts"].to_pylist() == [1, 3]
    assert faults == [(1, "its key does not fit timestamp[us]")]
    with pytest.raises(ColumnError, match=r"in row 1 of 'k' does not fit timestamp\[us\]"):
        ours.read(table)


def test_endings_that_the_stream_cannot_hold_are_faults() -> None:
    said = pa.table({"id": [5, 3_000_000_000, None, 9], "at": [1, 2, 3, None]})
    faults: list[Fault] = []
    endings = announce(said, ["id"], "at", [pa.int32()], faults)
    assert endings.keys.to_pydict() == {"id": [5, None]} and endings.ts.to_pylist() == [1, 3]
    assert faults == [(1, "its key does not fit int32"), (3, "its time is null")]
    with pytest.raises(PunctuatedError):
        announce(said, ["id"], "at", [pa.int32()])


def test_lists_that_multiply_to_too_many_keys_are_a_fault() -> None:
    spec = StreamSpec("A", ("k", "j", "ts"), ("k", "j"), "ts", None, punctuated=True)
    schema = pa.schema([("k", pa.int64()), ("j", pa.int64()), ("ts", pa.int64())])
    values = ",".join(map(str, range(1_000)))
    said = [f"<{{{values}}},{{{values}}},*>", "<{1,2},{3,4},*>"]
    table = pa.table({"k": pa.nulls(2, pa.int64()), "j": pa.nulls(2, pa.int64()), "ts": [1, 2], "said": said})
    faults: list[Fault] = []
    batch = Reader(spec, "said", schema, (pa.int64(), pa.int64())).read(table, faults)
    assert [place for place, _ in faults] == [0] and "name 1000000 keys" in faults[0][1]
    assert len(batch.punctuations) == 1


def test_times_beside_large_ones_stay_exact() -> None:
    """NumPy makes floats of an empty list, which cannot tell 2^53 from 2^53 + 1."""
    from punctuated.intake.prepare import ending_times, punctuation_times

    ours = reader(pa.int64(), pa.int64())
    table = pa.table({"k": pa.nulls(2, pa.int64()), "ts": [2**53, 2**53 + 1], "said": ["<1,*>", "<2,*>"]})
    batch = ours.read(table)
    assert punctuation_times(batch, ending_times(batch)).tolist() == [2**53, 2**53 + 1]
