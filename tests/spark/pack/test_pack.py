"""The pack: blobs leave as they are written, and what has left is not held."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from punctuated.exchange.parcels import read_parcels, rows_brought
from punctuated.intake.reading import Reader
from punctuated.model.spec import StreamSpec
from punctuated.spark.pack import pack
from punctuated.spark.pack.pack import PACKED, Pack

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.binary())])
N_BUCKETS, BATCH_ROWS, N_BATCHES, PAYLOAD = 64, 20_000, 8, 200
BATCH_BYTES = BATCH_ROWS * (PAYLOAD + 12)


@pytest.fixture
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "_LARGEST", BATCH_BYTES)  # two batches are packed at a time
    monkeypatch.setattr(pack, "_SENT", BATCH_BYTES // 8)


def stream() -> Iterator[pa.RecordBatch]:
    payload = pa.py_buffer(b"x" * (BATCH_ROWS * PAYLOAD))
    for number in range(N_BATCHES):
        keys = pa.array(np.arange(BATCH_ROWS) + number * BATCH_ROWS)
        values = pa.FixedSizeBinaryArray.from_buffers(pa.binary(PAYLOAD), BATCH_ROWS, [None, payload]).cast(pa.binary())
        yield pa.record_batch([keys, values], schema=SCHEMA)


def packer() -> Pack:
    spec = StreamSpec(name="A", columns=("k", "v"), key=("k",), time="k")
    return Pack(0, Reader(spec, None, SCHEMA, (pa.int64(),)), N_BUCKETS)


@pytest.mark.usefixtures("small_portions")
def test_rows_that_leave_in_portions_are_all_of_them() -> None:
    packed = pa.Table.from_batches(list(packer()(stream())), PACKED)
    assert set(Counter(packed["bucket"].to_pylist()).values()) == {N_BATCHES // 2}  # a blob per bucket and portion
    rows = read_parcels(SCHEMA, packed["data"].to_pylist()).rows
    assert sorted(rows["k"].to_pylist()) == list(range(BATCH_ROWS * N_BATCHES))
    first = packed.filter(pa.compute.equal(packed["bucket"], packed["bucket"][0]))
    assert rows_brought(first["data"].to_pylist()) == BATCH_ROWS * N_BATCHES


@pytest.mark.usefixtures("small_portions")
def test_a_long_stream_takes_the_memory_of_what_is_packed_at_a_time() -> None:
    before, held, sizes = pa.total_allocated_bytes(), [], []
    for sent in packer()(stream()):
        held.append(pa.total_allocated_bytes() - before)
        sizes.append(sent.nbytes)
    assert max(sizes) < BATCH_BYTES / 4
    assert max(held) < 5 * BATCH_BYTES  # two batches as they came and by bucket, and what is being sent
