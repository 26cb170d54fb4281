"""The functions of expressions: one table has their names, their synonyms in SQL, and what computes them.

A function is added by one row of `FUNCTIONS`: `pt.call` and the query language take it from there. An argument is a
column or a scalar; Arrow says if its type does not fit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.expressions.exact import beside, is_exact, not_zero, operate, roomy, truth
from punctuated.model.arguments import hint_of

_TEXT, _DOUBLE, _MOMENT = pa.string(), pa.float64(), pa.timestamp("us")
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
_SUNDAY = 7
_ANY = 1_000_000_000  # any number of arguments


# Arguments


def constant(value: Any, function: str, what: str) -> Any:
    """The value of an argument that must be the same for all rows."""
    if not isinstance(value, pa.Scalar):
        raise PredicateError(f"{function}: give {what} as a value, the same for all rows, not as a column")
    return value.as_py()


def whole(value: Any, function: str, what: str) -> int | None:
    """The whole number of an argument that must be the same for all rows; None for null."""
    found = constant(value, function, what)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
        raise PredicateError(f"{function}: {what} is {found!r}; give a whole number")
    return found


def text(value: Any, function: str, what: str) -> str | None:
    """The text of an argument that must be the same for all rows; None for null."""
    found = constant(value, function, what)
    if found is not None and not isinstance(found, str):
        raise PredicateError(f"{function}: {what} is {found!r}; give a text")
    return found


def typed(value: Any, dtype: pa.DataType) -> Any:
    """The value itself, or null with a type if it is a null without one: Arrow's functions refuse that."""
    return value.cast(dtype) if pa.types.is_null(value.type) else value


# Structs


def field(value: Any, name: Any) -> Any:
    """The values of one field of a struct; null where there is no struct."""
    wanted = text(name, "field", "the name of the field")
    if not pa.types.is_struct(value.type):
        raise PredicateError(f"field: the value is of type {value.type}, which has no fields")
    names = [each.name for each in value.type]
    if wanted not in names:
        raise PredicateError(f"field: there is no field {wanted!r}; {hint_of(str(wanted), names, 'there are')}")
    return pc.struct_field(value, wanted)


# Timestamps and dates: a timestamp with a time zone is taken as a clock there shows it


def part(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function that gives a part of the date or of the time of day, such as the month."""
    return lambda value: of(_moments(value))


def day_of_week(value: Any) -> Any:
    """The day of the week as in Spark: 1 for Sunday up to 7 for Saturday."""
    return pc.day_of_week(value, count_from_zero=False, week_start=_SUNDAY)


def truncated(unit: Any, value: Any) -> Any:
    """The start of the hour, day, week (Monday) and so on that a moment is in."""
    wanted = text(unit, "date_trunc", "the unit")
    name = None if wanted is None else wanted.lower()
    if name is not None and name not in _UNITS:
        raise PredicateError(f"date_trunc: the unit is {wanted!r}; give one of {', '.join(_UNITS)}")
    moments = _moments(value)
    return pa.scalar(None, moments.type) if name is None else pc.floor_temporal(moments, unit=name)


def date(value: Any) -> Any:
    """The day that a moment is in."""
    return typed(value, _MOMENT).cast(pa.date32())


def epoch(value: Any) -> Any:
    """Seconds since 1970 began in UTC, with their fractions."""
    moments = _moments(value)
    micros = moments.cast(pa.timestamp("us", moments.type.tz)).cast(pa.int64())
    return pc.divide(micros.cast(pa.float64()), pa.scalar(1e6))


def _moments(value: Any) -> Any:
    """Timestamps as they are, and dates as their first moments."""
    moments = typed(value, _MOMENT)
    return moments.cast(_MOMENT) if pa.types.is_date(moments.type) else moments


# Texts: counted in characters, however many bytes these take


def upper(value: Any) -> Any:
    return pc.utf8_upper(typed(value, _TEXT))


def lower(value: Any) -> Any:
    return pc.utf8_lower(typed(value, _TEXT))


def length(value: Any) -> Any:
    """The number of characters of a text."""
    return pc.utf8_length(typed(value, _TEXT)).cast(pa.int64())


def trimmed(trim: Callable[..., Any]) -> Callable[..., Any]:
    """The function that takes spaces, or other characters that are given, from the ends of a text."""

    def of(value: Any, characters: Any = None) -> Any:
        texts = typed(value, _TEXT)
        taken = " " if characters is None else text(characters, "trim", "what is trimmed")
        if taken is None:
            return pa.scalar(None, texts.type)
        return trim(texts, characters=taken) if taken else texts

    return of


def substring(value: Any, start: Any, n: Any = None) -> Any:
    """A part of a text. The first character is number 1; a negative start counts from the end."""
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
    """A text in which every occurrence of `old` has become `new`."""
    texts = typed(value, _TEXT)
    before, after = text(old, "replace", "the text to replace"), text(new, "replace", "the new text")
    if before is None or after is None:
        return pa.scalar(None, texts.type)
    return pc.replace_substring(texts, before, after) if before else texts  # Arrow never ends with an empty one


def concatenated(*values: Any) -> Any:
    """Texts joined one behind the other; null if one of them is null."""
    if any(pa.types.is_binary(each.type) or pa.types.is_large_binary(each.type) for each in values):
        raise PredicateError("concat: bytes are no text; cast them to text first")
    kind = pa.large_string() if any(pa.types.is_large_string(each.type) for each in values) else _TEXT
    return pc.binary_join_element_wise(*(each.cast(kind) for each in values), pa.scalar("", kind))


def matched(function: str, match: Callable[..., Any]) -> Callable[..., Any]:
    """The function that says whether a text matches a pattern."""

    def of(value: Any, pattern: Any) -> Any:
        wanted = text(pattern, function, "the pattern")
        return pa.scalar(None, pa.bool_()) if wanted is None else match(typed(value, _TEXT), wanted)

    return of


# Numbers: what has no value, such as the root of -1, is null


def absolute(value: Any) -> Any:
    """The absolute value."""
    return pc.abs_checked(typed(value, _DOUBLE))


def ceil(value: Any) -> Any:
    """The smallest whole number that is not below the value; integers stay as they are."""
    return value if pa.types.is_integer(value.type) else pc.ceil(roomy(typed(value, _DOUBLE)))


def floor(value: Any) -> Any:
    """The largest whole number that is not above the value; integers stay as they are."""
    return value if pa.types.is_integer(value.type) else pc.floor(roomy(typed(value, _DOUBLE)))


def rounded(value: Any, digits: Any = None) -> Any:
    """The value rounded to so many digits behind the point; halves go away from zero."""
    n = 0 if digits is None else whole(digits, "round", "the number of digits")
    numbers = roomy(typed(value, _DOUBLE))
    if n is None:
        return pa.scalar(None, numbers.type)
    return pc.round(numbers, ndigits=n, round_mode="half_towards_infinity")


def square_root(value: Any) -> Any:
    """The square root; null below zero."""
    return pc.sqrt(_where(_double(value), pc.greater_equal))


def power(base: Any, exponent: Any) -> Any:
    """The base to the power of the exponent, as a floating-point number."""
    return pc.power(_double(base), _double(exponent))


def exponential(value: Any) -> Any:
    """E to the power of x."""
    return pc.exp(_double(value))


def natural_logarithm(value: Any) -> Any:
    """The logarithm to the base e; null unless the value is above zero."""
    return pc.ln(_where(_double(value), pc.greater))


def decimal_logarithm(value: Any) -> Any:
    """The logarithm to the base 10; null unless the value is above zero."""
    return pc.log10(_where(_double(value), pc.greater))


def sign(value: Any) -> Any:
    """-1, 0 or 1: the sign of a number."""
    return pc.sign(typed(value, _DOUBLE))


def quotient(dividend: Any, divisor: Any) -> Any:
    """The quotient as in SQL: a floating-point number; null if the divisor is zero."""
    return pc.divide(_double(dividend), not_zero(_double(divisor)))


def remainder(dividend: Any, divisor: Any) -> Any:
    """The remainder of a division cut off at the point, with the dividend's sign; null if the divisor is zero."""
    first, second = typed(dividend, pa.int64()), typed(divisor, pa.int64())
    if is_exact(first.type) and is_exact(second.type):
        divisor = not_zero(second)
        return operate("-", first, operate("*", _whole_part(operate("/", first, divisor)), divisor))
    first, second = _double(first), not_zero(_double(second))
    if isinstance(first, pa.Scalar) and isinstance(second, pa.Scalar):
        return remainder(pa.chunked_array([pa.array([first.as_py()], _DOUBLE)]), second)[0]
    found = np.fmod(_as_numpy(first), _as_numpy(second))
    return pc.if_else(pc.and_(pc.is_valid(first), pc.is_valid(second)), pa.array(found), pa.scalar(None, _DOUBLE))


def _whole_part(quotient: Any) -> Any:
    return pc.trunc(quotient) if pa.types.is_decimal(quotient.type) else quotient


def _as_numpy(values: Any) -> Any:
    """Doubles as a NumPy scalar or array; nulls become NaN."""
    if isinstance(values, pa.Scalar):
        return np.float64(np.nan if values.as_py() is None else values.as_py())
    return values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy()


def _double(value: Any) -> Any:
    """The nearest doubles: integers beyond 2^53 are rounded."""
    return value if value.type == _DOUBLE else value.cast(_DOUBLE, safe=not pa.types.is_integer(value.type))


def _where(values: Any, compare: Any) -> Any:
    """Numbers, null where the comparison with zero is false."""
    return pc.if_else(compare(values, 0.0), values, pa.scalar(None, _DOUBLE))


# Values of any type


def _of_typed(compute: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Compute over the values that have a type: Arrow refuses others, and nulls would change nothing."""
    typed = [each for each in values if not pa.types.is_null(each.type)]
    return compute(*beside(*typed)) if typed else pa.scalar(None)


def _null_if(value: Any, other: Any) -> Any:
    return pc.if_else(pc.fill_null(operate("==", value, other), False), pa.scalar(None, value.type), value)


def _choose(condition: Any, value: Any, otherwise: Any) -> Any:
    return pc.if_else(pc.fill_null(truth(condition), False), *beside(value, otherwise))


def _is_among(value: Any, *listed: Any) -> Any:
    """Whether the value equals one of the list; null if it equals none but the list has a null."""
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
    """The list as an array of the value's type; None if it does not fit."""
    try:
        return pa.array(listed).cast(value.type)
    except (pa.ArrowException, TypeError):
        return None


# The table


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """A row of the table: a name, what computes it, how many arguments it takes, and its synonyms in SQL."""

    name: str
    compute: Callable[..., Any]
    least: int = 1
    most: int = 1
    synonyms: tuple[str, ...] = ()


_TABLE = (
    # numbers
    ScalarFunction("abs", absolute),
    ScalarFunction("ceil", ceil, synonyms=("ceiling",)),
    ScalarFunction("floor", floor),
    ScalarFunction("round", rounded, 1, 2),
    ScalarFunction("sqrt", square_root),
    ScalarFunction("power", power, 2, 2, synonyms=("pow",)),
    ScalarFunction("exp", exponential),
    ScalarFunction("ln", natural_logarithm),
    ScalarFunction("log10", decimal_logarithm),
    ScalarFunction("sign", sign),
    ScalarFunction("mod", remainder, 2, 2),
    ScalarFunction("divide", quotient, 2, 2),
    # values of any type
    ScalarFunction("greatest", lambda *values: _of_typed(pc.max_element_wise, values), 1, _ANY),
    ScalarFunction("least", lambda *values: _of_typed(pc.min_element_wise, values), 1, _ANY),
    ScalarFunction("coalesce", lambda *values: _of_typed(pc.coalesce, values), 1, _ANY, synonyms=("ifnull", "nvl")),
    ScalarFunction("nullif", _null_if, 2, 2),
    ScalarFunction("if", _choose, 3, 3),
    ScalarFunction("in", _is_among, 2, _ANY),
    ScalarFunction("field", field, 2, 2),
    # texts
    ScalarFunction("upper", upper),
    ScalarFunction("lower", lower),
    ScalarFunction("length", length, synonyms=("len", "char_length", "character_length")),
    ScalarFunction("trim", trimmed(pc.utf8_trim), 1, 2),
    ScalarFunction("ltrim", trimmed(pc.utf8_ltrim), 1, 2),
    ScalarFunction("rtrim", trimmed(pc.utf8_rtrim), 1, 2),
    ScalarFunction("substring", substring, 2, 3, synonyms=("substr",)),
    ScalarFunction("replace", replaced, 3, 3),
    ScalarFunction("concat", concatenated, 1, _ANY),
    ScalarFunction("starts_with", matched("starts_with", pc.starts_with), 2, 2, synonyms=("startswith",)),
    ScalarFunction("ends_with", matched("ends_with", pc.ends_with), 2, 2, synonyms=("endswith",)),
    ScalarFunction("like", matched("like", pc.match_like), 2, 2),
    ScalarFunction("ilike", matched("ilike", partial(pc.match_like, ignore_case=True)), 2, 2),
    ScalarFunction("regexp_like", matched("regexp_like", pc.match_substring_regex), 2, 2),
    # times
    ScalarFunction("year", part(pc.year)),
    ScalarFunction("quarter", part(pc.quarter)),
    ScalarFunction("month", part(pc.month)),
    ScalarFunction("day", part(pc.day)),
    ScalarFunction("hour", part(pc.hour)),
    ScalarFunction("minute", part(pc.minute)),
    ScalarFunction("second", part(pc.second)),
    ScalarFunction("dayofweek", part(day_of_week), synonyms=("day_of_week",)),
    ScalarFunction("date_trunc", truncated, 2, 2),
    ScalarFunction("date", date),
    ScalarFunction("epoch", epoch),
)
FUNCTIONS = {function.name: function for function in _TABLE}
SYNONYMS = {synonym: function.name for function in _TABLE for synonym in function.synonyms}  # SQL knows these, too


def check_call(function: str, n_arguments: int) -> None:
    """Raise if there is no such function, or it takes another number of arguments."""
    if function not in FUNCTIONS:
        raise PredicateError(f"there is no function {function!r}; {hint_of(function, FUNCTIONS, 'known')}")
    least, most = FUNCTIONS[function].least, FUNCTIONS[function].most
    if not least <= n_arguments <= most:
        wanted = f"{least}" if least == most else f"{least} or more" if most == _ANY else f"{least} to {most}"
        raise PredicateError(f"{function} takes {wanted} argument{'s' * (wanted != '1')}, not {n_arguments}")


def compute_call(function: str, arguments: Sequence[Any]) -> Any:
    """The values of a function for these arguments."""
    return FUNCTIONS[function].compute(*arguments)
