"""A stream as a folder of files, one per micro-batch, which Spark takes in order."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_SPARK_TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.bool_(): "BOOLEAN"}
_FIRST_FILE_S = 1_600_000_000  # files are dated a second apart: Spark orders them by their time


def write_files(folder: Path, tables: Sequence[pa.Table], first: int = 0) -> Path:
    """One file per batch; Spark takes the oldest first. `first` is the number of files that are there already."""
    folder.mkdir(parents=True, exist_ok=first > 0)
    for number, table in enumerate(tables, first):
        path = folder / f"{number:05}.parquet"
        pq.write_table(table, path)
        os.utime(path, (_FIRST_FILE_S + number, _FIRST_FILE_S + number))
    return folder


def read_files(spark: Any, folder: Path) -> Any:
    """A streaming DataFrame of what `write_files` wrote, one file per micro-batch."""
    fields = pq.read_schema(folder / "00000.parquet")
    ddl = ", ".join(f"{field.name} {_SPARK_TYPES.get(field.type, 'TIMESTAMP')}" for field in fields)
    return spark.readStream.schema(ddl).option("maxFilesPerTrigger", 1).parquet(str(folder))
