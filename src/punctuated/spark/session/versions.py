"""Differences between Spark 4.1 and later versions: the only place that asks for the version.

From 4.2 on, Spark tells a source written in Python where a micro-batch starts, how much it may take, and that its
trigger is availableNow. Spark 4.1 tells none of this and lacks these names, so they are defined here.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

LIMITS_ARE_TOLD = find_spec("pyspark.sql.streaming.datasource") is not None

if TYPE_CHECKING or LIMITS_ARE_TOLD:
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
        """Wants to be told that the trigger is availableNow."""


__all__ = [
    "LIMITS_ARE_TOLD",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxRows",
    "SupportsTriggerAvailableNow",
    "arrow_types",
    "spark_types",
]

_IN_UTC: dict[str, Any] = {"timezone": "UTC"} if LIMITS_ARE_TOLD else {"timestamp_utc": True}


def arrow_types(schema: StructType) -> pa.Schema:
    """The Arrow types of Spark's; moments are in UTC."""
    return to_arrow_schema(schema, **_IN_UTC)


def spark_types(schema: pa.Schema) -> StructType:
    """The Spark types of Arrow's; times without a zone stay without one, which is not what Spark 4.1 does by itself."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)
