"""Arguments of functions that must be the same for all rows."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.expressions.exact import beside, is_exact, not_zero, operate, roomy, truth
from punctuated.model.arguments import hint_of

_MOMENT = pa.timestamp("us")
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
_SUNDAY = 7
_TEXT = pa.string()
_DOUBLE = pa.float64()


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


# Fields of structs.


def field(value: Any, name: Any) -> Any:
    """The values of one field; null where there is no struct."""
    wanted = text(name, "field", "the name of the field")
    if not pa.types.is_struct(value.type):
        raise PredicateError(f"field: the value is of type {value.type}, which has no fields")
    names = [each.name for each in value.type]
    if wanted not in names:
        raise PredicateError(f"field: there is no field {wanted!r}; {hint_of(str(wanted), names, 'there are')}")
    return pc.struct_field(value, wanted)


# Functions of timestamps and dates; a timestamp with a time zone is taken as a clock there shows it.


def part(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A part of the date or the time of day."""
    return lambda value: of(_moments(value))


def day_of_week(value: Any) -> Any:
    """1 for Sunday up to 7 for Saturday, as in Spark."""
    return pc.day_of_week(value, count_from_zero=False, week_start=_SUNDAY)


def truncated(unit: Any, value: Any) -> Any:
    """The start of the hour, day, week (Monday) and so on that a moment is in."""
    given = text(unit, "date_trunc", "the unit")
    name = None if given is None else given.lower()
    if name is not None and name not in _UNITS:
        raise PredicateError(f"date_trunc: the unit is {given!r}; give one of {', '.join(_UNITS)}")
    moments = _moments(value)
    return pa.scalar(None, moments.type) if name is None else pc.floor_temporal(moments, unit=name)


def date(value: Any) -> Any:
    """The day."""
    return typed(value, _MOMENT).cast(pa.date32())


def epoch(value: Any) -> Any:
    """Seconds since 1970 began in UTC, with their fractions."""
    moments = _moments(value)
    micros = moments.cast(pa.timestamp("us", moments.type.tz)).cast(pa.int64())
    return pc.divide(micros.cast(pa.float64()), pa.scalar(1e6))


def _moments(value: Any) -> Any:
    """Dates as their first moments."""
    moments = typed(value, _MOMENT)
    return moments.cast(_MOMENT) if pa.types.is_date(moments.type) else moments


# Functions of texts, character by character whatever these take in memory.


def upper(value: Any) -> Any:
    """In capital letters."""
    return pc.utf8_upper(typed(value, _TEXT))


def lower(value: Any) -> Any:
    """In small letters."""
    return pc.utf8_lower(typed(value, _TEXT))


def length(value: Any) -> Any:
    """The number of characters."""
    return pc.utf8_length(typed(value, _TEXT)).cast(pa.int64())


def trimmed(trim: Callable[..., Any]) -> Callable[..., Any]:
    """Without spaces at its ends, or without other characters that are given."""

    def of(value: Any, characters: Any = None) -> Any:
        texts = typed(value, _TEXT)
        taken = " " if characters is None else text(characters, "trim", "what is trimmed")
        if taken is None:
            return pa.scalar(None, texts.type)
        return trim(texts, characters=taken) if taken else texts

    return of


def substring(value: Any, start: Any, n: Any = None) -> Any:
    """A part, from the first character, which is number 1; a negative start counts from the end."""
    texts, first = typed(value, _TEXT), whole(start, "substring", "the first place")
    size = None if n is None else whole(n, "substring", "the length")
    if first is None or (n is not None and size is None):
        return pa.scalar(None, texts.type)
    if size is not None and size < 0:
        raise PredicateError(f"substring: the length is {size}; give 0 or more")
    begin = first - 1 if first > 0 else first
    stop = None if size is None else begin + size - (first == 0)
    if begin < 0:
        stop = None if stop is None or stop >= 0 else stop
    elif stop is not None:
        stop = max(begin, stop)
    return pc.utf8_slice_codeunits(texts, begin, stop)


def replaced(value: Any, old: Any, new: Any) -> Any:
    """With another text in the place of one, wherever that is."""
    texts = typed(value, _TEXT)
    before, after = text(old, "replace", "the text to replace"), text(new, "replace", "the new text")
    if before is None or after is None:
        return pa.scalar(None, texts.type)
    return pc.replace_substring(texts, before, after) if before else texts  # Arrow never ends with an empty one


def concatenated(*values: Any) -> Any:
    """One behind the other; null if one of them is."""
    if any(pa.types.is_binary(each.type) or pa.types.is_large_binary(each.type) for each in values):
        raise PredicateError("concat: bytes are no text; cast them to text first")
    kind = pa.large_string() if any(pa.types.is_large_string(each.type) for each in values) else _TEXT
    return pc.binary_join_element_wise(*(each.cast(kind) for each in values), pa.scalar("", kind))


def matched(function: str, match: Callable[..., Any]) -> Callable[..., Any]:
    """Whether a text is as a pattern says."""

    def of(value: Any, pattern: Any) -> Any:
        wanted = text(pattern, function, "the pattern")
        return pa.scalar(None, pa.bool_()) if wanted is None else match(typed(value, _TEXT), wanted)

    return of


# Functions of numbers. What has no value, such as the root of -1, is null.


def absolute(value: Any) -> Any:
    """|x|."""
    return pc.abs_checked(typed(value, _DOUBLE))


def ceil(value: Any) -> Any:
    """The next whole number above; integers stay what they are."""
    return value if pa.types.is_integer(value.type) else pc.ceil(roomy(typed(value, _DOUBLE)))


def floor(value: Any) -> Any:
    """The next whole number below."""
    return value if pa.types.is_integer(value.type) else pc.floor(roomy(typed(value, _DOUBLE)))


def rounded(value: Any, digits: Any = None) -> Any:
    """To so many digits behind the point; halves go away from zero."""
    n = 0 if digits is None else whole(digits, "round", "the number of digits")
    numbers = roomy(typed(value, _DOUBLE))
    if n is None:
        return pa.scalar(None, numbers.type)
    return pc.round(numbers, ndigits=n, round_mode="half_towards_infinity")


def square_root(value: Any) -> Any:
    """The root; null below zero."""
    return pc.sqrt(_where(_double(value), pc.greater_equal))


def power(base: Any, exponent: Any) -> Any:
    """A power, as a floating-point number."""
    return pc.power(_double(base), _double(exponent))


def exponential(value: Any) -> Any:
    """E to the power of x."""
    return pc.exp(_double(value))


def natural_logarithm(value: Any) -> Any:
    """To the base e; null unless above zero."""
    return pc.ln(_where(_double(value), pc.greater))


def decimal_logarithm(value: Any) -> Any:
    """To the base 10; null unless above zero."""
    return pc.log10(_where(_double(value), pc.greater))


def sign(value: Any) -> Any:
    """-1, 0 or 1."""
    return pc.sign(typed(value, _DOUBLE))


def quotient(dividend: Any, divisor: Any) -> Any:
    """The division of SQL: of floating-point numbers, and null by zero."""
    return pc.divide(_double(dividend), not_zero(_double(divisor)))


def remainder(dividend: Any, divisor: Any) -> Any:
    """What is left of a division that is cut off at the point: it has the sign of the dividend; null by zero."""
    first, second = typed(dividend, pa.int64()), typed(divisor, pa.int64())
    if is_exact(first.type) and is_exact(second.type):
        divisor = not_zero(second)
        return operate("-", first, operate("*", _whole_part(operate("/", first, divisor)), divisor))
    first, second = _double(first), not_zero(_double(second))
    if isinstance(first, pa.Scalar) and isinstance(second, pa.Scalar):
        return remainder(pa.chunked_array([pa.array([first.as_py()], _DOUBLE)]), second)[0]
    found = np.fmod(_plain(first), _plain(second))
    return pc.if_else(pc.and_(pc.is_valid(first), pc.is_valid(second)), pa.array(found), pa.scalar(None, _DOUBLE))


def _whole_part(quotient: Any) -> Any:
    return pc.trunc(quotient) if pa.types.is_decimal(quotient.type) else quotient


def _plain(values: Any) -> Any:
    """As NumPy has it; nulls are NaN."""
    if isinstance(values, pa.Scalar):
        return np.float64(np.nan if values.as_py() is None else values.as_py())
    return values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy()


def _double(value: Any) -> Any:
    """The nearest double: integers beyond 2^53 are rounded."""
    return value if value.type == _DOUBLE else value.cast(_DOUBLE, safe=not pa.types.is_integer(value.type))


def _where(values: Any, compare: Any) -> Any:
    """Numbers, null where they do not compare so with zero."""
    return pc.if_else(compare(values, 0.0), values, pa.scalar(None, _DOUBLE))


# Functions by name. An argument is a column or a scalar; Arrow says if its type does not fit.


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
    "abs": absolute,
    "ceil": ceil,
    "floor": floor,
    "round": rounded,
    "sqrt": square_root,
    "power": power,
    "exp": exponential,
    "ln": natural_logarithm,
    "log10": decimal_logarithm,
    "sign": sign,
    "mod": remainder,
    "divide": quotient,
    "greatest": lambda *values: _of_some(pc.max_element_wise, values),
    "least": lambda *values: _of_some(pc.min_element_wise, values),
    "coalesce": _first_known,
    "nullif": _null_if,
    "if": _choose,
    "in": _is_among,
    "field": field,
    "upper": upper,
    "lower": lower,
    "length": length,
    "trim": trimmed(pc.utf8_trim),
    "ltrim": trimmed(pc.utf8_ltrim),
    "rtrim": trimmed(pc.utf8_rtrim),
    "substring": substring,
    "replace": replaced,
    "concat": concatenated,
    "starts_with": matched("starts_with", pc.starts_with),
    "ends_with": matched("ends_with", pc.ends_with),
    "like": matched("like", pc.match_like),
    "ilike": matched("ilike", lambda text, pattern: pc.match_like(text, pattern, ignore_case=True)),
    "regexp_like": matched("regexp_like", pc.match_substring_regex),
    "year": part(pc.year),
    "quarter": part(pc.quarter),
    "month": part(pc.month),
    "day": part(pc.day),
    "hour": part(pc.hour),
    "minute": part(pc.minute),
    "second": part(pc.second),
    "dayofweek": part(day_of_week),
    "date_trunc": truncated,
    "date": date,
    "epoch": epoch,
}
