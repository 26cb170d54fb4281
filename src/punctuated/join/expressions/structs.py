"""Fields of structs."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.join.expressions.literals import text
from punctuated.model.nearest import hint_of


def field(value: Any, name: Any) -> Any:
    """The values of one field; null where there is no struct."""
    wanted = text(name, "field", "the name of the field")
    if not pa.types.is_struct(value.type):
        raise PredicateError(f"field: the value is of type {value.type}, which has no fields")
    names = [each.name for each in value.type]
    if wanted not in names:
        raise PredicateError(f"field: there is no field {wanted!r}; {hint_of(str(wanted), names, 'there are')}")
    return pc.struct_field(value, wanted)
