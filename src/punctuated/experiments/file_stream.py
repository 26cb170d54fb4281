"""A stream as a folder of files, one per micro-batch, which Spark takes in order."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_SPARK_TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.bool_(): "BOOLEAN"}


def write_files(folder: Path, tables: Sequence[pa.Table]) -> Path:
    """One file per batch; Spark takes the oldest first."""
    folder.mkdir(parents=True)
    for number, table in enumerate(tables):
        path = folder / f"{number:05}.parquet"
        pq.write_table(table, path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return folder


def read_files(spark: Any, folder: Path) -> Any:
    """A streaming DataFrame of what `write_files` wrote, one file per micro-batch."""
    fields = pq.read_schema(folder / "00000.parquet")
    ddl = ", ".join(f"{field.name} {_SPARK_TYPES.get(field.type, 'TIMESTAMP')}" for field in fields)
    return spark.readStream.schema(ddl).option("maxFilesPerTrigger", 1).parquet(str(folder))
