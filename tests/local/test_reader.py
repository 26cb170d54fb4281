"""Results in pieces, made when they are read."""

import threading
import time
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.operator.driver import JoinDriver
from punctuated.runtime import prefetch
from punctuated.state import arrays
from table_streams import declare

N = 2_000
THREADS = pytest.mark.parametrize("threads", [1, 2, 3])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many objects every call of a driver has had; pieces of results are small."""
    counted: list[int] = []
    process = JoinDriver.process_in_parts

    def counting(self: JoinDriver, *batches: Any, **more: Any) -> Any:
        counted.append(sum(len(batch.rows) for batch in batches))
        return process(self, *batches, **more)

    monkeypatch.setattr(JoinDriver, "process_in_parts", counting)
    monkeypatch.setattr(arrays, "_PAIRS", 512)
    return counted


def joined(threads: int = 1, late: bool = False) -> pt.Join:
    drawn = np.random.default_rng(7)
    a, b = (pa.table({"k": drawn.integers(0, 50, N), "ts": np.arange(N), "v": np.arange(N)}) for _ in range(2))
    right = [b.slice(0, N // 2), b.slice(N // 2)] if not late else [b, b.slice(0, 3)]
    left = declare(a, name="A", key="k", time="ts", window=N // 4)
    return pt.join(left, declare(right, name="B", key="k", time="ts", window=N // 4), threads=threads)


def ours() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "punctuated"]


@THREADS
def test_pieces_together_are_the_results(threads: int, runs: list[int]) -> None:
    join = joined(threads)
    reader = join.reader()
    assert isinstance(reader, pa.RecordBatchReader) and reader.schema == join.schema
    pieces = list(reader)
    assert len(pieces) > 10 and all(piece.schema == join.schema for piece in pieces)
    assert pa.Table.from_batches(pieces) == joined(threads).results
    assert not ours()


@THREADS
def test_nothing_runs_before_it_is_read_and_little_ahead_of_it(threads: int, runs: list[int]) -> None:
    join = joined(threads)
    reader = join.reader()
    assert runs == []
    first = reader.read_next_batch()
    time.sleep(0.2)  # threads would go on if nothing held them back
    made = join._spread.n_buckets * (prefetch._MOST + 2) * 1024
    assert first.num_rows <= 1024 and _results_of(reader) + first.num_rows > made
    assert not ours()


def _results_of(reader: pa.RecordBatchReader) -> int:
    return sum(batch.num_rows for batch in reader)


@THREADS
def test_a_reader_that_is_dropped_stops_the_join(threads: int, runs: list[int]) -> None:
    reader = joined(threads).reader()
    reader.read_next_batch()
    assert len(ours()) == (threads if threads > 1 else 0)
    del reader
    assert not ours()
    assert 0 < sum(runs) <= N + N // 2  # its second batch has not begun


def test_what_was_made_is_read_and_not_made_again(runs: list[int]) -> None:
    join = joined()
    results = join.results
    ran = len(runs)
    assert join.reader().read_all() == join.reader().read_all() == results
    assert len(runs) == ran


@THREADS
def test_after_a_reader_all_but_results_is_known(threads: int, runs: list[int]) -> None:
    join, other = joined(threads, late=True), joined(threads, late=True)
    with pytest.warns(pt.RejectedRowsWarning, match="3 rows rejected as late"):
        n = len(join.reader().read_all())
    ran = len(runs)
    assert len(join.rejected) == 3 and join.metrics == other.metrics and join.punctuations == other.punctuations
    assert join.metrics.to_pylist()[-1]["results"] == n
    assert len(runs) == 2 * ran  # those of the other one
    assert len(join.results) == n and len(runs) == 3 * ran
    assert join.reader().read_all() == join.results and len(runs) == 3 * ran


def test_one_that_was_not_read_to_its_end_tells_nothing(runs: list[int]) -> None:
    join = joined()
    join.reader().read_next_batch()
    assert join.metrics.to_pylist()[-1]["results"] == len(join.results)


@THREADS
def test_an_error_amid_it_reaches_the_reader(threads: int) -> None:
    a = pa.table({"k": np.arange(N) % (N - 5), "ts": np.arange(N)})
    left = declare(a, name="A", key="k", time="ts", window=N, punctuations=pt.unique(), on_violation="fail")
    right = declare(a, name="B", key="k", time="ts", window=N)
    with pytest.raises(pt.PromiseBroken, match="stream 'A' brought"):
        pt.join(left, right, threads=threads).reader().read_all()
    assert not ours()


@THREADS
def test_other_libraries_read_it(threads: int) -> None:
    join, n = joined(threads), len(joined().results)
    found: Any = duckdb.connect().from_arrow(join.reader())
    assert found.aggregate("count(*), max(v_right)").fetchall() == [(n, N - 1)]
    assert len(join.reader().read_pandas()) == n


def test_no_results_have_columns_all_the_same() -> None:
    empty = pa.table({"k": pa.array([], pa.int32()), "ts": pa.array([], pa.int64())})
    streams = [declare(empty, name=name, key="k", time="ts", window=5) for name in "AB"]
    read = pt.join(*streams, threads=2, select=["ts_right"]).reader().read_all()
    assert read.schema.names == ["k", "ts_right"] and len(read) == 0
