"""Times far apart, of any unit: nothing overflows, is cut or fills the memory."""

from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare

FAR = 2**60 - 10


def stream(name: str, times: pa.Array, **options: Any) -> pt.TableStream:
    table = pa.table({"k": [1] * len(times), "ts": times})
    return declare(table, **({"name": name, "key": "k", "time": "ts", "window": "1 day"} | options))


@pytest.mark.parametrize("dtype", [pa.int8(), pa.uint16(), pa.int32(), pa.uint64()])
def test_times_of_narrow_integers_come_out_wide(dtype: pa.DataType) -> None:
    """An output punctuation is dated at the end of a window, a result at the later of two times."""
    left = stream("A", pa.array([1], dtype), window=1_000_000, punctuations=pt.unique())
    joined = pt.join(left, stream("B", pa.array([2, FAR]), window=0))
    assert joined.all.schema.field("_ts").type == pa.int64()
    assert joined.punctuations["ts"].to_pylist() == [1_000_002]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_come_out_as_microseconds(unit: str) -> None:
    left = stream("A", pa.array([1_000_000], pa.timestamp("us")).cast(pa.timestamp(unit)))
    joined = pt.join(left, stream("B", pa.array([1_000_007, FAR], pa.timestamp("us"))))
    assert joined.all.schema.field("_ts").type == pa.timestamp("us")
    assert joined.all["_ts"].cast(pa.int64()).to_pylist() == [1_000_007]


@pytest.mark.parametrize("sample_every", [None, 1])
def test_samples_of_streams_that_span_ages_are_few(sample_every: int | None) -> None:
    """Also if it is an ending that lies in the far future."""
    said = pt.endings(pa.table({"k": [1], "at": [FAR]}), key="k", time="at")
    left = stream("A", pa.array([0, 5]), window=9, punctuations=said)
    metrics = pt.join(left, stream("B", pa.array([0, FAR]), window=9), sample_every=sample_every).metrics
    assert 2 <= metrics.num_rows < 1_000
    assert metrics["tuples_right"].to_pylist()[-1] == 2


def test_any_column_can_break_a_tie() -> None:
    """Tuples of one time are ordered by all their columns, also by those that have no order of their own."""
    columns = {"k": [1, 1], "ts": [0, 0], "v": pa.array([(1, 2, 3), (0, 0, 1)], pa.month_day_nano_interval())}
    left = declare(pa.table(columns), name="A", key="k", time="ts", window=pt.rows(1))
    assert pt.join(left, stream("B", pa.array([1]))).results.num_rows == 1
