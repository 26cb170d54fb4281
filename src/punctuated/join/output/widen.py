"""Tables with all columns of a schema; missing columns are null."""

import pyarrow as pa


def widen(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows of a stream before it gained columns, or of one kind in a view of several.

    >>> widen(pa.table({"b": [1]}), pa.schema([("a", pa.string()), ("b", pa.int64())])).to_pylist()
    [{'a': None, 'b': 1}]
    """
    if rows.schema.equals(schema):
        return rows
    known = set(rows.column_names)
    columns = [rows[f.name] if f.name in known else pa.nulls(len(rows), f.type) for f in schema]
    return pa.table(columns, schema=schema)
