"""Sources on Spark: each is a streaming DataFrame, or Parquet files that the join reads itself in the columnar lane."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from punctuated.api.engine import register_source
from punctuated.api.files import files
from punctuated.errors import PunctuatedError, StreamError
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.options import LISTING, PATH, read_boolean, take_option
from punctuated.sql.sources.schemas import FILES, GENERATOR, PARQUET, columns_of, options_of, schema_of
from punctuated.storage.tables.location import parse_path

_OUR_ERROR = re.compile(r"punctuated\.errors\.\w+: (.+)")
_SPARK_ERROR = re.compile(r"\[[A-Z][A-Z0-9_.]+\] .+")
_LANE = "lane"  # the option that turns the columnar lane off
_FORMATS = {GENERATOR: "punctuated"}  # sources that Spark knows by another name


class SparkSources:
    """Opens each source as a streaming DataFrame or as files."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark, self._folder = spark, folder

    def open(self, statement: CreateStream) -> Any:
        """The streaming DataFrame or the files of a stream."""
        options = options_of(statement, self._folder)
        take_option(_LANE, options)
        read = self._files if reason_for_rows(statement, self._folder) is None else self._frame
        return read(statement, options)

    def _files(self, statement: CreateStream, options: dict[str, str]) -> Any:
        path = take_option(PATH, options)
        assert path is not None, "options_of requires it"
        schema = schema_of(statement.columns) if statement.columns else None
        return files(self._spark, path, schema=schema, options=options)

    def _frame(self, statement: CreateStream, options: dict[str, str]) -> Any:
        if statement.source == GENERATOR:
            register_source(self._spark)
        reader = self._spark.readStream.format(_FORMATS.get(statement.source, statement.source)).options(**options)
        if statement.source in FILES:
            reader = reader.schema(_spark_types(columns_of(statement, self._folder)))
        return _loaded(reader, statement)


def describe_lane(statement: CreateStream, folder: Path) -> str:
    """How a join on Spark reads a source, in words: in the columnar lane, or by rows and why."""
    why = reason_for_rows(statement, folder)
    return "by row groups, in the columnar lane" if why is None else f"by rows of Spark: {why}"


def reason_for_rows(statement: CreateStream, folder: Path) -> str | None:
    """Why a source is read by rows of Spark; None if the join can read its files itself."""
    if statement.source != PARQUET:
        return f"the columnar lane reads 'parquet', and this is {statement.source!r}"
    options = options_of(statement, folder)
    if not read_boolean(_LANE, take_option(_LANE, options) or "true"):
        return "the option lane says so"
    path = take_option(PATH, options)
    try:
        parse_path(path or "")
    except ValueError as trouble:
        return str(trouble)
    listing = {name.lower() for name in LISTING}
    others = sorted(name for name in options if name.lower() not in listing)
    return f"only Spark's reader knows the option {', '.join(others)}" if others else None


def _loaded(reader: Any, statement: CreateStream) -> Any:
    """The DataFrame of a stream; if Spark refuses, the error has its message in one line."""
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
    return f"CAST({spark_identifier(name)} AS {type}) AS {spark_identifier(name)}"


def spark_identifier(name: str) -> str:
    """The name of a column in backticks, as Spark reads it whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def _spark_types(columns: pa.Schema) -> Any:
    from punctuated.spark.session.types import spark_schema

    return spark_schema(columns, {})


def spark_message(failure: object) -> str:
    r"""One line of a failure on Spark, which comes with stack traces and with errors that wrap the first one.

    It is the message of our error if there is one, else Spark's own, else the first line.

    >>> spark_message("An error occurred while calling o1.load.\n: x.Y: [NO_SOURCE] No such format.\n\tat z")
    '[NO_SOURCE] No such format.'
    """
    text = str(failure).strip()
    our_errors, spark_error = _OUR_ERROR.findall(text), _SPARK_ERROR.search(text)
    if our_errors:
        return str(our_errors[-1])
    return spark_error[0] if spark_error is not None else (text.splitlines() or [""])[0]
