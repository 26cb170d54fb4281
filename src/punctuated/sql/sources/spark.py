"""What Spark says when something fails, in a line: its messages come with stack traces, and with what wraps them."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from punctuated.api.engine import register_source
from punctuated.api.files import files
from punctuated.errors import PunctuatedError, StreamError
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.options import PATH, take_option, truth_of
from punctuated.sql.sources.schemas import FILES, GENERATOR, PARQUET, columns_of, options_of, schema_of
from punctuated.storage.tables.file_systems import parse_path

_OUR_PACKAGE = re.compile(r"punctuated\.errors\.\w+: (.+)")
_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_.]+\] .+")  # how Spark's own messages begin
LANE = "lane"  # the option that turns it off
_OF_LISTING = frozenset(  # options of Spark's file source about which files there are, not about what is in them
    name.lower()
    for name in (
        *("maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "latestFirst", "fileNameOnly", "cleanSource"),
        *("sourceArchiveDir", "pathGlobFilter", "modifiedBefore", "modifiedAfter", "recursiveFileLookup", "basePath"),
    )
)
_OURS = {GENERATOR: "punctuated"}  # formats that Spark knows by another name


def spark_message(failure: object) -> str:
    r"""Our own words if there are any, else Spark's message, else the first line.

    >>> in_a_line("An error occurred while calling o1.load.\n: x.Y: [DATA_SOURCE_NOT_FOUND] No such format.\n\tat z")
    '[DATA_SOURCE_NOT_FOUND] No such format.'
    """
    text = str(failure).strip()
    ours, theirs = _OUR_PACKAGE.findall(text), _CONDITION.search(text)
    if ours:
        return str(ours[-1])
    return theirs[0] if theirs is not None else (text.splitlines() or [""])[0]


# Sources on Spark: a streaming DataFrame of any format, and Parquet files by the columnar lane where it can be.


class SparkSources:
    """Reads each source as a stream."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark, self._folder = spark, folder

    def open(self, statement: CreateStream) -> Any:
        """A streaming DataFrame, or files."""
        options = options_of(statement, self._folder)
        take_option(LANE, options)
        read = self._files if reason_for_rows(statement, self._folder) is None else self._frame
        return read(statement, options)

    def _files(self, statement: CreateStream, options: dict[str, str]) -> Any:
        path = take_option(PATH, options)
        assert path is not None, "options_of has asked for it"
        schema = schema_of(statement.columns) if statement.columns else None
        return files(self._spark, path, schema=schema, options=options)

    def _frame(self, statement: CreateStream, options: dict[str, str]) -> Any:
        if statement.source == GENERATOR:
            register_source(self._spark)
        reader = self._spark.readStream.format(_OURS.get(statement.source, statement.source)).options(**options)
        if statement.source in FILES:
            reader = reader.schema(_spark_types(columns_of(statement, self._folder)))
        return _loaded(reader, statement)


def describe_lane(statement: CreateStream, folder: Path) -> str:
    """Which way rows take into a join on Spark, and why."""
    why = reason_for_rows(statement, folder)
    return "by row groups, in the columnar lane" if why is None else f"by rows of Spark: {why}"


def reason_for_rows(statement: CreateStream, folder: Path) -> str | None:
    """Why a source is read by rows of Spark; None if its files can be read by the join itself."""
    if statement.source != PARQUET:
        return f"the columnar lane reads 'parquet', and this is {statement.source!r}"
    options = options_of(statement, folder)
    if not truth_of(LANE, take_option(LANE, options) or "true"):
        return "the option lane says so"
    path = take_option(PATH, options)
    try:
        parse_path(path or "")
    except ValueError as trouble:
        return str(trouble)
    others = sorted(name for name in options if name.lower() not in _OF_LISTING)
    return f"only Spark's reader knows the option {', '.join(others)}" if others else None


def _loaded(reader: Any, statement: CreateStream) -> Any:
    """The DataFrame; what Spark says if there is none, in one line."""
    try:
        frame = reader.load()
        return frame.selectExpr(*(_cast(*column) for column in statement.columns)) if statement.columns else frame
    except PunctuatedError:
        raise
    except Exception as error:
        first = spark_message(error)
        raise StreamError(
            f"Spark cannot read stream {statement.name!r} as {statement.source!r}: {first}{_remedy(first)}"
        ) from error


def _remedy(message: str) -> str:
    if "DATA_SOURCE_NOT_FOUND" not in message:
        return ""
    return " Give the package that has this format: --conf spark.jars.packages=group:artifact:version"


def _cast(name: str, type: str) -> str:
    return f"CAST({quoted(name)} AS {type}) AS {quoted(name)}"


def quoted(name: str) -> str:
    """The name of a column, as Spark reads it whatever is in it."""
    return f"`{name.replace('`', '``')}`"


def _spark_types(columns: pa.Schema) -> Any:
    from punctuated.spark.session.types import spark_schema

    return spark_schema(columns, {})
