"""Turns plain rows and punctuations, which the oracle takes, into batches of Arrow tables, which operators take."""

from collections.abc import Sequence

import pyarrow as pa

from punctuated.model.batch import Row, StreamBatch
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import StreamSpec


def stream_schema(spec: StreamSpec) -> pa.Schema:
    """The column types of random streams: integers, but a boolean flag `f`, and doubles in `x`, if there is one."""
    types = {"f": pa.bool_(), "x": pa.float64()}
    return pa.schema([(name, types.get(name, pa.int64())) for name in spec.columns])


def as_batch(spec: StreamSpec, objects: Sequence[Row | Punctuation], schema: pa.Schema | None = None) -> StreamBatch:
    """The objects of one stream as a batch, with `stream_schema` unless another schema is given."""
    rows = [each.values for each in objects if isinstance(each, Row)]
    punctuations = tuple(each for each in objects if isinstance(each, Punctuation))
    schema = stream_schema(spec) if schema is None else schema
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    return StreamBatch(pa.table(columns, schema=schema), punctuations=punctuations)
