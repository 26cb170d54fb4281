"""Nested columns under other types: as they were, whatever is declared of nulls and time zones."""

import pyarrow as pa

from punctuated.arrow.types import recast


def declared(zone: str, nullable: bool = False) -> pa.DataType:
    """A struct of everything that can be nested."""
    time = pa.timestamp("us", zone)
    element = pa.field("element", pa.struct([pa.field("t", time, nullable)]), nullable)
    return pa.struct(
        [
            pa.field("t", time, nullable),
            pa.field("some", pa.list_(element), nullable),
            pa.field("by_name", pa.map_(pa.string(), time), nullable),
        ]
    )


VALUES = [{"t": 1, "some": [{"t": 2}], "by_name": [("a", None)]}, None, {"t": 3, "some": [], "by_name": []}]


def test_a_null_struct_of_fields_without_nulls_is_no_fault() -> None:
    """Spark's own arrays are such: where the struct is null, so are its fields."""
    given = pa.array(VALUES, declared("America/New_York", nullable=True))
    table = pa.table({"k": [1, 2, 3], "s": pa.chunked_array([given.slice(0, 2), given.slice(2)])})
    for zone, nullable in (("UTC", False), ("UTC", True), ("America/New_York", False)):
        schema = pa.schema([("k", pa.int64()), ("s", declared(zone, nullable))])
        found = recast(table, schema)
        assert found.schema == schema
        again = recast(found, table.schema)
        again.validate(full=True)
        assert again.equals(table)


def test_other_columns_are_cast() -> None:
    table = pa.table({"k": pa.array([1, None], pa.int32()), "l": pa.array([["a"], None], pa.list_(pa.large_string()))})
    schema = pa.schema([("k", pa.float64()), ("l", pa.list_(pa.string()))])
    assert recast(table, schema).to_pydict() == {"k": [1.0, None], "l": [["a"], None]}
    assert recast(table, schema).schema == schema
