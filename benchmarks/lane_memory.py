"""How much memory Python workers need for one large file in one trigger: row groups and buckets bound it, not files.

    python -m benchmarks.lane_memory --megabytes 2000 --buckets 64

from the root of the repository. Writes a file of that size whose rows carry 200 bytes that do not compress, joins it
with a small one through `pt.files`, and prints the largest resident size of any worker, sampled.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.peers.spark_native import session

import punctuated as pt

ROW_GROUP = 100_000
PAYLOAD = 200  # bytes
SCHEMA = "k BIGINT, ts BIGINT, v BINARY"
_EVERY_S = 0.02


def write(path: Path, n_rows: int) -> None:
    """Keys of ten rows each, in order of time."""
    path.parent.mkdir()
    random = np.random.default_rng(1)
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.binary())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n_rows, ROW_GROUP):
            n = min(ROW_GROUP, n_rows - first)
            numbers = np.arange(first, first + n)
            data = pa.py_buffer(random.bytes(n * PAYLOAD))
            payload = pa.FixedSizeBinaryArray.from_buffers(pa.binary(PAYLOAD), n, [None, data]).cast(pa.binary())
            writer.write_table(pa.table([numbers // 10, numbers, payload], schema=schema))


class Watch(threading.Thread):
    """The largest resident size of any Python process below this one."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak_kb, self.done = 0, False

    def run(self) -> None:
        while not self.done:
            self.peak_kb = max([self.peak_kb, *map(peak_of, descendants(os.getpid()))])
            time.sleep(_EVERY_S)


def descendants(pid: int) -> list[int]:
    """Processes that were started by this one, or by those."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        others = [int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid]
        text += "".join(f" {Path(f'/proc/{pid}/task/{tid}/children').read_text()}" for tid in others)
    except OSError:
        return []
    children = [int(child) for child in text.split()]
    return [*children, *(each for child in children for each in descendants(child))]


def peak_of(pid: int) -> int:
    """The largest resident size that a Python process ever had, in kB; none of others."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(fields["VmHWM"].split()[0]) if "python" in fields["Name"] and "VmHWM" in fields else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--buckets", type=int, default=64)
    parser.add_argument("--rows", action="store_true", help="by Spark's rows instead, to compare")
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="lane-memory-") as folder:
        left, right = Path(folder) / "a" / "0.parquet", Path(folder) / "b" / "0.parquet"
        write(left, options.megabytes * 1_000_000 // (PAYLOAD + 8))
        write(right, 10)
        spark = pt.configure(session("rocksdb", 2, {"spark.driver.memory": "3g"}))
        a, b = (
            pt.stream(
                spark.readStream.schema(SCHEMA).parquet(str(path.parent))
                if options.rows
                else pt.files(spark, str(path.parent), schema=SCHEMA),
                name=name,
                key="k",
                time="ts",
                window=10,
            )
            for name, path in (("a", left), ("b", right))
        )
        results = pt.join(a, b, how="inner", select=["ts_left", "ts_right"], buckets=options.buckets).results
        watch = Watch()
        watch.start()
        begin = time.perf_counter()
        writer = results.writeStream.format("noop").option("checkpointLocation", f"{folder}/checkpoint")
        writer.trigger(availableNow=True).start().awaitTermination()
        seconds, watch.done = time.perf_counter() - begin, True
        size = left.stat().st_size
        spark.stop()
    worker = f"{seconds:.1f} s, a worker {watch.peak_kb / 1e3:,.0f} MB"
    print(f"a file of {size / 1e6:,.0f} MB, {options.buckets} buckets: {worker}")


if __name__ == "__main__":
    main()
