"""Plain objects as Arrow tables: what the oracle is given, in the form that operators are given."""

from collections.abc import Sequence

import pyarrow as pa

from punctuated.model.batch import StreamBatch
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import StreamSpec
from punctuated.model.tuples import Row

_INTEGER = pa.int64()


def stream_schema(spec: StreamSpec, first: pa.DataType = _INTEGER) -> pa.Schema:
    """Integers throughout, but for the flag column and, if asked for, the first one."""
    types = [first, *(pa.bool_() if name == "f" else _INTEGER for name in spec.columns[1:])]
    return pa.schema(list(zip(spec.columns, types, strict=True)))


def as_batch(spec: StreamSpec, objects: Sequence[Row | Punctuation], first: pa.DataType = _INTEGER) -> StreamBatch:
    """One stream's share of a batch; `first` is the type of the first column."""
    rows = [each.values for each in objects if isinstance(each, Row)]
    punctuations = tuple(each for each in objects if isinstance(each, Punctuation))
    schema = stream_schema(spec, first)
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
    return StreamBatch(pa.table(columns, schema=schema), punctuations=punctuations)
