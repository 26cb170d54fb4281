"""`pt.files`: files that the join reads itself, so that their rows do not go through Spark."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from punctuated.errors import StreamError
from punctuated.model.arguments import whole_number
from punctuated.model.memory import parse_size

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from pyarrow.fs import FileSystem

    from punctuated.spark.source.files import Files, Schema


def files(
    spark: Any,
    path: str,
    *,
    schema: "Schema | None" = None,
    format: str = "parquet",
    max_files: int | None = None,
    max_bytes: int | str | None = None,
    where: "pc.Expression | None" = None,
    on_damage: str = "fail",
    streaming: bool = True,
    filesystem: "FileSystem | None" = None,
    options: Mapping[str, Any] | None = None,
) -> "Files":
    """Files for `pt.stream`, in place of a DataFrame: Spark lists the files, and the join reads them itself.

    The rows are the same as those of `spark.readStream.schema(…).parquet(path)`, but read several times as fast.

    Args:
        spark: The session.
        path: A folder or a pattern, local or in a store that pyarrow knows: `s3a://`, `gs://`, `abfss://`, `hdfs://`.
        schema: The columns to read: Spark's types, text such as "k BIGINT, at TIMESTAMP", or those of Arrow. By default
            those that Spark finds in the existing files.
        format: "parquet". Use Spark's reader for other files.
        max_files: The most files that a micro-batch takes.
        max_bytes: The most bytes that a micro-batch takes, or text such as "1 GiB"; always at least one file.
        where: Which rows are read, such as `pc.field("price") > 5` of `pyarrow.compute`. Row groups that cannot hold
            such rows are not read at all.
        on_damage: What to do with a file or row group that cannot be read: "fail" the query, or "reject" it, which
            names it in `rejected` and reads all others.
        streaming: Whether to read files as they arrive. If not, the existing files are read as one batch.
        filesystem: A pyarrow file system, for paths that need credentials or an address.
        options: Further options of Spark's file source, such as `{"pathGlobFilter": "*.parquet"}`.
    """
    from punctuated.spark.source.files import open_files

    limits = {
        "maxFilesPerTrigger": None if max_files is None else whole_number(max_files, "max_files", StreamError, least=1),
        "maxBytesPerTrigger": None if max_bytes is None else parse_size(max_bytes, "max_bytes"),
    }
    return open_files(
        spark,
        path,
        schema=schema,
        format=format,
        limits=limits,
        where=where,
        on_damage=on_damage,
        streaming=streaming,
        filesystem=filesystem,
        options=options or {},
    )
