"""Differences between Spark 4.1 and later versions: the only place that asks for the version.

From 4.2 on, a source written in Python learns from Spark where a micro-batch starts, how much it may take, and that the
trigger is availableNow. Spark 4.1 lacks all of this and its names, so the names are defined here.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

HAS_READ_LIMITS = find_spec("pyspark.sql.streaming.datasource") is not None

if TYPE_CHECKING or HAS_READ_LIMITS:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
else:

    class ReadLimit:
        """How much a micro-batch may take."""

    class ReadAllAvailable(ReadLimit):
        """All there is."""

    @dataclass
    class ReadMaxRows(ReadLimit):
        """At most this many rows."""

        max_rows: int

    class SupportsTriggerAvailableNow:
        """A source that learns that the trigger is availableNow."""


__all__ = [
    "HAS_READ_LIMITS",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxRows",
    "SupportsTriggerAvailableNow",
    "arrow_types",
    "spark_types",
]

_IN_UTC: dict[str, Any] = {"timezone": "UTC"} if HAS_READ_LIMITS else {"timestamp_utc": True}


def arrow_types(schema: StructType) -> pa.Schema:
    """The Arrow types of Spark's; moments are in UTC."""
    return to_arrow_schema(schema, **_IN_UTC)


def spark_types(schema: pa.Schema) -> StructType:
    """The Spark types of Arrow's; times without a zone stay without one, which is not what Spark 4.1 does by itself."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)
