"""A checkpoint that is kept: a streaming query over generated streams, stopped in the middle.

python -m golden.checkpoint FILE    writes the checkpoint of this version as a zip, with `tests` on the path
"""

import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.spark.session.local import local_spark

N_ROWS, PER_BATCH, STOPPED_AT = 400, 100, 2
ANYWHERE = "/the/folder/of/the/checkpoint"


class Stopped(Exception):
    """Where the query was stopped."""


def groups(spark: SparkSession) -> DataFrame:
    """Counts per key of two streams that come in four micro-batches, whatever folder they run in."""
    pt.register_source(spark)
    declared = []
    for name, seed in (("A", 1), ("B", 2)):
        options: dict[str, str | int] = {
            "stream": "punct-asc-10-4",
            "rows": N_ROWS,
            "rowsPerBatch": PER_BATCH,
            "seed": seed,
            "ahead": 5,
        }
        frame = spark.readStream.format("punctuated").options(**options).load()
        ended = pt.when("last")
        declared.append(pt.stream(frame, name=name, key="key", time="ts", window="10 seconds", punctuations=ended))
    return pt.join(declared[0], declared[1], buckets=2).group_by("key").agg(n=pt.count(), most=pt.max("val_left"))


def run(spark: SparkSession, checkpoint: Path, stop_at: int | None = None) -> list[tuple[int, ...]]:
    """The groups that come out from where the checkpoint stands, up to a batch that is not committed."""
    found: list[tuple[int, ...]] = []

    def take(frame: DataFrame, batch: int) -> None:
        if batch == stop_at:
            raise Stopped
        found.extend(tuple(row) for row in frame.collect())

    writer = groups(spark).writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    if stop_at is None:
        query.awaitTermination()
    else:
        with pytest.raises(StreamingQueryException, match="Stopped"):
            query.awaitTermination()
    return found


def pack(checkpoint: Path, archive: Path) -> None:
    """Write a checkpoint as a zip, wherever it lies: Spark notes its own folder in it."""
    _say_where(checkpoint, str(checkpoint), ANYWHERE)
    shutil.make_archive(str(archive.with_suffix("")), "zip", checkpoint)


def unpack(archive: Path, checkpoint: Path) -> None:
    """The inverse, in another folder."""
    shutil.unpack_archive(archive, checkpoint)
    _say_where(checkpoint, ANYWHERE, str(checkpoint))


def _say_where(checkpoint: Path, before: str, now: str) -> None:
    for noted in checkpoint.glob("state/*/_metadata/v2/*"):
        if not noted.name.startswith("."):
            noted.write_text(noted.read_text(encoding="utf-8").replace(before, now), encoding="utf-8")
            noted.with_name(f".{noted.name}.crc").unlink(missing_ok=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with local_spark("golden", folder, folder / "spark.log") as session:
            run(session, folder / "checkpoint", STOPPED_AT)
        pack(folder / "checkpoint", Path(sys.argv[1]))
