"""Cases that are left out, each for a defect that is known and being mended elsewhere. To be deleted one by one."""

from collections.abc import Callable

import pyarrow as pa

from hostile.cases import Case, Side


def _key_types(side: Side) -> list[pa.DataType]:
    key = side.options["key"]
    names = [key] if isinstance(key, str) else key if isinstance(key, list | tuple) else []
    return [side.table.schema.field(name).type for name in names if name in side.table.column_names]


def _has_keys_of_two_types(case: Case) -> bool:
    """Keys that one type does not hold exactly (int64 and double, uint64 and int64, microseconds and nanoseconds)."""
    left, right = map(_key_types, case.sides)
    return left != right


def _has_empty_structs(case: Case) -> bool:
    """A struct without fields as a key."""
    return any(dtype == pa.struct([]) for side in case.sides for dtype in _key_types(side))


def _has_float_keys(case: Case) -> bool:
    """Groups by floating-point keys: two zeros are two groups."""
    return any(pa.types.is_floating(dtype) for side in case.sides for dtype in _key_types(side))


def _has_patterns_beyond_their_column(case: Case) -> bool:
    """Values that no value of the column can be: `<-1,*>` of an unsigned key, microseconds of a column of seconds."""

    def is_coarse(dtype: pa.DataType) -> bool:
        is_narrow = pa.types.is_integer(dtype) and dtype != pa.int64()
        return bool(is_narrow or (pa.types.is_timestamp(dtype) and dtype.unit != "us"))

    return any(
        "said" in str(side.options.get("punctuations")) and any(map(is_coarse, side.table.schema.types))
        for side in case.sides
    )


def _has_times_beyond_python(case: Case) -> bool:
    """Rejected rows whose times Python's datetime cannot hold."""
    return any(
        pa.types.is_timestamp(column.type)
        and any(each.value is not None and abs(each.value) >= 2**58 for each in column)
        for side in case.sides
        for column in side.table.columns
    )


def _compares_large_integers_with_floats(case: Case) -> bool:
    """`where=` of a floating-point column and an integer that it cannot hold."""
    types = {column.type for side in case.sides for column in side.table.columns}
    has_floats = any(pa.types.is_floating(dtype) for dtype in types)
    return case.where is not None and has_floats and bool(types & {pa.int64(), pa.uint64()})


EXCLUDED: list[Callable[[Case], bool]] = [
    _has_keys_of_two_types,
    _has_empty_structs,
    _has_float_keys,
    _has_patterns_beyond_their_column,
    _has_times_beyond_python,
    _compares_large_integers_with_floats,
]


def is_excluded(case: Case) -> bool:
    """Whether a known defect is in the way."""
    return any(has(case) for has in EXCLUDED)
