"""Functions by name. An argument is a column or a scalar; Arrow says if its type does not fit."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.expressions import moments, numbers, structs, texts
from punctuated.join.expressions.exact import beside, operate, truth


def compute_call(function: str, arguments: Sequence[Any]) -> Any:
    """What a function gives for these arguments."""
    return COMPUTED[function](*arguments)


def _first_known(*values: Any) -> Any:
    return _of_some(pc.coalesce, values)


def _of_some(compute: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Arrow takes no column without a type beside others; it would change nothing."""
    typed = [each for each in values if not pa.types.is_null(each.type)]
    return compute(*beside(*typed)) if typed else pa.scalar(None)


def _null_if(value: Any, other: Any) -> Any:
    return pc.if_else(pc.fill_null(operate("==", value, other), False), pa.scalar(None, value.type), value)


def _choose(condition: Any, value: Any, otherwise: Any) -> Any:
    return pc.if_else(pc.fill_null(truth(condition), False), *beside(value, otherwise))


def _is_among(value: Any, *listed: Any) -> Any:
    """Null if there is none in the list that is equal, but a null."""
    if all(isinstance(each, pa.Scalar) for each in listed):
        values = _as_set(value, [each.as_py() for each in listed if each.as_py() is not None])
        if values is not None:
            is_among = pc.if_else(pc.is_valid(value), pc.is_in(value, value_set=values), pa.scalar(None, pa.bool_()))
            is_open = any(each.as_py() is None for each in listed)
            return pc.or_kleene(is_among, pa.scalar(None, pa.bool_())) if is_open else is_among
    found = operate("==", value, listed[0])
    for each in listed[1:]:
        found = operate("|", found, operate("==", value, each))
    return found


def _as_set(value: Any, listed: Sequence[Any]) -> pa.Array | None:
    """The list in the type of the value, if it fits."""
    try:
        return pa.array(listed).cast(value.type)
    except (pa.ArrowException, TypeError):
        return None


COMPUTED: dict[str, Callable[..., Any]] = {
    "abs": numbers.absolute,
    "ceil": numbers.ceil,
    "floor": numbers.floor,
    "round": numbers.rounded,
    "sqrt": numbers.square_root,
    "power": numbers.power,
    "exp": numbers.exponential,
    "ln": numbers.natural_logarithm,
    "log10": numbers.decimal_logarithm,
    "sign": numbers.sign,
    "mod": numbers.remainder,
    "divide": numbers.quotient,
    "greatest": lambda *values: _of_some(pc.max_element_wise, values),
    "least": lambda *values: _of_some(pc.min_element_wise, values),
    "coalesce": _first_known,
    "nullif": _null_if,
    "if": _choose,
    "in": _is_among,
    "field": structs.field,
    "upper": texts.upper,
    "lower": texts.lower,
    "length": texts.length,
    "trim": texts.trimmed(pc.utf8_trim),
    "ltrim": texts.trimmed(pc.utf8_ltrim),
    "rtrim": texts.trimmed(pc.utf8_rtrim),
    "substring": texts.substring,
    "replace": texts.replaced,
    "concat": texts.concatenated,
    "starts_with": texts.matched("starts_with", pc.starts_with),
    "ends_with": texts.matched("ends_with", pc.ends_with),
    "like": texts.matched("like", pc.match_like),
    "ilike": texts.matched("ilike", lambda text, pattern: pc.match_like(text, pattern, ignore_case=True)),
    "regexp_like": texts.matched("regexp_like", pc.match_substring_regex),
    "year": moments.part(pc.year),
    "quarter": moments.part(pc.quarter),
    "month": moments.part(pc.month),
    "day": moments.part(pc.day),
    "hour": moments.part(pc.hour),
    "minute": moments.part(pc.minute),
    "second": moments.part(pc.second),
    "dayofweek": moments.part(moments.day_of_week),
    "date_trunc": moments.truncated,
    "date": moments.date,
    "epoch": moments.epoch,
}
