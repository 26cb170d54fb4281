"""How much memory Python workers need for one large file in one trigger: row groups and buckets bound it, not files.

    python -m benchmarks.lane_memory --megabytes 2000 --buckets 64

from the root of the repository. Writes a file of that size whose rows carry 200 bytes that do not compress, joins it
with a small one through `pt.files`, and prints the largest resident size of any worker and its most addresses.

The small one covers the same time, so that next to nothing has to be kept. With `--kept` it does not, and all rows of
the large one are state: give `--memory` then, or it is in the workers' memory.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.peers.spark_native import session
from benchmarks.worker_memory import peak_mb

import punctuated as pt

ROW_GROUP = 100_000
SMALL = 100  # rows of the other file
PAYLOAD = 200  # bytes
SCHEMA = "k BIGINT, ts BIGINT, v BINARY"
_EVERY_S = 0.02


def write(path: Path, n_rows: int, step: int = 1) -> None:
    """Keys of ten moments each, in order of time, a row every so many moments."""
    path.parent.mkdir()
    random = np.random.default_rng(1)
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.binary())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, n_rows, ROW_GROUP):
            n = min(ROW_GROUP, n_rows - first)
            numbers = np.arange(first, first + n) * step
            data = pa.py_buffer(random.bytes(n * PAYLOAD))
            payload = pa.FixedSizeBinaryArray.from_buffers(pa.binary(PAYLOAD), n, [None, data]).cast(pa.binary())
            writer.write_table(pa.table([numbers // 10, numbers, payload], schema=schema))


class Watch(threading.Thread):
    """The largest resident size of any worker, and the most addresses."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks, self.done = Counter[str](), False

    def run(self) -> None:
        while not self.done:
            self.peaks |= Counter(peak_mb())
            time.sleep(_EVERY_S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--buckets", type=int, default=64)
    parser.add_argument("--rows", action="store_true", help="by Spark's rows instead, to compare")
    parser.add_argument("--kept", action="store_true", help="all rows of the large file are state")
    parser.add_argument("--memory", help="that the join may use, such as '256 MiB'")
    parser.add_argument("--worker-memory", help="hard limit of the addresses of each worker, such as 2g")
    options = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory(prefix="lane-memory-") as folder:
        left, right = Path(folder) / "a" / "0.parquet", Path(folder) / "b" / "0.parquet"
        n_rows = options.megabytes * 1_000_000 // (PAYLOAD + 8)
        write(left, n_rows)
        write(right, SMALL, 1 if options.kept else n_rows // SMALL)
        limit = {"spark.executor.pyspark.memory": options.worker_memory} if options.worker_memory else {}
        spark = pt.configure(session("rocksdb", 2, {"spark.driver.memory": "3g"} | limit))
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
        chosen = {"select": ["ts_left", "ts_right"], "buckets": options.buckets, "memory": options.memory}
        results = pt.join(a, b, how="inner", **chosen).results
        watch = Watch()
        watch.start()
        begin = time.perf_counter()
        writer = results.writeStream.format("noop").option("checkpointLocation", f"{folder}/checkpoint")
        writer.trigger(availableNow=True).start().awaitTermination()
        seconds, watch.done = time.perf_counter() - begin, True
        size = left.stat().st_size
        spark.stop()
    worker = f"{watch.peaks['worker_mb']:,} MB, {watch.peaks['worker_addresses_mb']:,} MB of addresses"
    print(f"a file of {size / 1e6:,.0f} MB, {options.buckets} buckets: {seconds:.1f} s, a worker {worker}")


if __name__ == "__main__":
    main()
