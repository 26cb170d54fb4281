"""Arguments of functions that must be the same for all rows."""

from typing import Any

import pyarrow as pa

from punctuated.errors import PredicateError


def constant(value: Any, function: str, what: str) -> Any:
    """The one value of an argument."""
    if not isinstance(value, pa.Scalar):
        raise PredicateError(f"{function}: give {what} as a value, the same for all rows, not as a column")
    return value.as_py()


def whole(value: Any, function: str, what: str) -> int | None:
    """The same for whole numbers; None for null."""
    found = constant(value, function, what)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
        raise PredicateError(f"{function}: {what} is {found!r}; give a whole number")
    return found


def text(value: Any, function: str, what: str) -> str | None:
    """The same for texts."""
    found = constant(value, function, what)
    if found is not None and not isinstance(found, str):
        raise PredicateError(f"{function}: {what} is {found!r}; give a text")
    return found


def typed(value: Any, dtype: pa.DataType) -> Any:
    """Null with a type, if it has none; Arrow's functions are particular about that."""
    return value.cast(dtype) if pa.types.is_null(value.type) else value
