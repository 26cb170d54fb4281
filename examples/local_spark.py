"""What examples with the option `--spark` share: a local session, and tables as files that come one after the other.

Pyspark is imported only when a session is asked for.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import punctuated as pt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = list[str]  # line by line


def print_answer(arguments: Sequence[str], on_tables: Callable[[], Answer], on_spark: Callable[[Path], Answer]) -> None:
    """Print what one of them answers; on Spark there is a folder for its files."""
    if "--spark" not in arguments:
        print("\n".join(on_tables()))
        return
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(on_spark(Path(folder))))


@contextmanager
def session() -> "Iterator[SparkSession]":
    """A local session on two cores; one that is there already is used, and left running."""
    from pyspark.sql import SparkSession

    if running := SparkSession.getActiveSession():
        yield pt.configure(running)
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's Python workers are to be this Python
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 2)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield pt.configure(spark)
    finally:
        spark.stop()


def write_files(folder: Path, table: pa.Table, time: str, every: timedelta) -> str:
    """A file for each period of event time, the empty ones included, so that streams keep step; returns the folder."""
    folder.mkdir(parents=True)
    period = pc.divide(table[time].cast(pa.int64()), every // timedelta(microseconds=1))
    for number in range(pc.max(period).as_py() + 1):
        file = folder / f"{number:03}.parquet"
        pq.write_table(table.filter(pc.equal(period, number)), file)
        os.utime(file, (number, number))  # Spark takes the oldest file first
    return str(folder)
