"""Rows of tables: taken by their indices from several tables, and widened to the columns of a schema.

Arrow copies all chunks of a column into one before it takes from them. For a few rows of a large state that is nearly
all of the time, so each table is asked for its own rows, and these are put in order.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_FEW = 0.5  # of all rows: beyond that, one copy of everything is cheaper than two of what is asked for


def take_rows(tables: Sequence[pa.Table], rows: npt.NDArray[np.integer]) -> pa.Table:
    """The rows with these indices, counted through all tables, in this order. There must be a table."""
    sizes = [len(table) for table in tables]
    if len(tables) == 1 or rows.size > _FEW * sum(sizes):
        return _take(pa.concat_tables(tables), rows)
    stops = np.cumsum(sizes)
    owner = np.searchsorted(stops, rows, side="right")
    order = np.argsort(owner, kind="stable")
    by_table = np.split(rows[order], np.searchsorted(owner[order], np.arange(1, len(tables))))
    firsts = stops - sizes
    taken = [
        _take(table, ours - first)
        for table, ours, first in zip(tables, by_table, firsts.tolist(), strict=True)
        if ours.size
    ]
    position = np.empty(rows.size, np.int64)
    position[order] = np.arange(rows.size)
    return _take(pa.concat_tables(taken or [tables[0].slice(0, 0)]).combine_chunks(), position)


def _take(table: pa.Table, rows: npt.NDArray[np.integer]) -> pa.Table:
    """The rows with these indices, unchecked: to check each of them would take longer than the rest."""
    return pc.take(table, pa.array(rows), boundscheck=False)


# Missing columns


def widen(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with all columns of a schema; missing columns are null.

    They are rows of a stream before it gained columns, or of one kind in a view of several.

    >>> widen(pa.table({"b": [1]}), pa.schema([("a", pa.string()), ("b", pa.int64())])).to_pylist()
    [{'a': None, 'b': 1}]
    """
    if rows.schema.equals(schema):
        return rows
    known = set(rows.column_names)
    columns = [rows[f.name] if f.name in known else pa.nulls(len(rows), f.type) for f in schema]
    return pa.table(columns, schema=schema)
