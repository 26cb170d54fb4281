"""`pt.files`: files as a stream that is read without Spark's rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from punctuated.errors import StreamError
from punctuated.model.given import whole_number
from punctuated.model.size import parse_size

if TYPE_CHECKING:
    import pyarrow.compute as pc
    from pyarrow.fs import FileSystem

    from punctuated.spark.files import Files, Schema


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
    """Files for `pt.stream`, in the place of a DataFrame: Spark lists them, and the join reads them by itself.

    The rows are those of `spark.readStream.schema(…).parquet(path)`, several times as fast.

    Args:
        spark: The session.
        path: A folder or a pattern, local or in a store that pyarrow knows: `s3a://`, `gs://`, `abfss://`, `hdfs://`.
        schema: The columns to read: Spark's types, text such as "k BIGINT, at TIMESTAMP", or those of Arrow. By default
            those that Spark finds in the files that are there.
        format: "parquet"; other files are for Spark's reader.
        max_files: How many files a micro-batch takes at most.
        max_bytes: Likewise, bytes, or text such as "1 GiB"; at least one file.
        where: Which rows are read, such as `pc.field("price") > 5` of `pyarrow.compute`. Row groups that cannot have
            any are not read at all.
        on_damage: What a file or a row group that cannot be read does: "fail" the query, or "reject": it is named in
            `rejected`, and all others are read.
        streaming: Whether files are read as they come; if not, those that are there are a batch.
        filesystem: Of pyarrow, where its own way by the path lacks keys or an address.
        options: Further options of Spark's file source, such as `{"pathGlobFilter": "*.parquet"}`.
    """
    from punctuated.spark.files import open_files

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
