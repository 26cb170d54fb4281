"""Groups of the oracle's output: each group comes out once, when nothing can change it any more (PW-40)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from punctuated.model.batch import Row
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType
from punctuated.testing.reference_patterns import matches_all
from punctuated.testing.reference_state import BatchOutput, OutputPunctuation

ResultRow = dict[str, Any]
Aggregates = Mapping[str, tuple[str, str | None]]
Member = tuple[int, ResultRow]  # result time, row
FUNCTIONS = ("count", "sum", "min", "max", "mean", "variance", "stddev", "first", "last")


def groups(
    spec: JoinSpec, outputs: Sequence[BatchOutput], by: Sequence[str], aggregates: Aggregates
) -> list[list[ResultRow]]:
    """For each batch, the groups that became final in it: rows of the grouping columns and the aggregates.

    `aggregates` maps a name to (function, column); functions are those of `FUNCTIONS`.
    """
    open_groups: dict[tuple[Any, ...], list[Member]] = {}
    final_per_batch = []
    for output in outputs:
        for member in result_rows(spec, output):
            open_groups.setdefault(tuple(_one_form(member[1][column]) for column in by), []).append(member)
        final = sorted((group for group in open_groups if _is_final(spec, output, by, group)), key=_nulls_last)
        final_per_batch.append([_summary(by, group, open_groups.pop(group), aggregates) for group in final])
    return final_per_batch


def result_rows(spec: JoinSpec, output: BatchOutput) -> Iterator[Member]:
    """The result rows of a batch as a user sees them, unmatched rows included, each with its result time."""
    for (left, right), ts in zip(output.results, output.result_ts, strict=True):
        yield ts, result_row(spec, left, right)
    for unmatched in output.unmatched:
        sides = (unmatched.row, None) if unmatched.side == LEFT else (None, unmatched.row)
        yield unmatched.ts, result_row(spec, *sides)


def result_row(spec: JoinSpec, left: Row | None, right: Row | None) -> ResultRow:
    """A result row: the key columns once, by their left names, then the other columns of the left and the right row."""
    left_values = dict.fromkeys(spec.left.columns) if left is None else _named(spec.left.columns, left)
    right_values = dict.fromkeys(spec.right.columns) if right is None else _named(spec.right.columns, right)
    key_values, key = (right_values, spec.right.key) if left is None else (left_values, spec.left.key)
    row = {name: key_values[column] for name, column in zip(spec.left.key, key, strict=True)}
    others = [[column for column in stream.columns if column not in stream.key] for stream in spec.streams]
    if spec.how in (JoinType.SEMI, JoinType.ANTI):
        return row | {column: left_values[column] for column in others[LEFT]}
    shared = set(others[LEFT]) & set(others[RIGHT])
    row |= {f"{column}_left" if column in shared else column: left_values[column] for column in others[LEFT]}
    row |= {f"{column}_right" if column in shared else column: right_values[column] for column in others[RIGHT]}
    return row


def _named(columns: Sequence[str], row: Row) -> dict[str, Any]:
    return dict(zip(columns, row.values, strict=True))


def _is_final(spec: JoinSpec, output: BatchOutput, by: Sequence[str], group: tuple[Any, ...]) -> bool:
    if output.watermark == math.inf:
        return True
    if not set(spec.left.key) <= set(by):
        return False
    key = tuple(group[list(by).index(column)] for column in spec.left.key)
    return any(_is_covered(punctuation, key) for punctuation in output.punctuations)


def _is_covered(punctuation: OutputPunctuation, key: tuple[Any, ...]) -> bool:
    if punctuation.patterns is None:
        return punctuation.key == key
    return matches_all(punctuation.patterns, key)


def _summary(by: Sequence[str], group: tuple[Any, ...], members: list[Member], aggregates: Aggregates) -> ResultRow:
    members = sorted(members, key=lambda member: (member[0], _nulls_last(member[1].values())))
    summary = dict(zip(by, group, strict=True))
    for name, (function, column) in aggregates.items():
        summary[name] = len(members) if column is None else aggregate_of(function, [row[column] for _, row in members])
    return summary


def aggregate_of(function: str, values: list[Any]) -> Any:
    """An aggregate of the values of a column, in the order of the results; one of `FUNCTIONS`."""
    assert function in FUNCTIONS
    if function in ("first", "last"):
        return values[0 if function == "first" else -1]
    known = [value for value in values if value is not None]
    if function == "count":
        return len(known)
    if not known:
        return None
    if function in ("min", "max"):
        return _one_form((min if function == "min" else max)(known, key=_above_numbers))
    if function in ("variance", "stddev"):
        return exact_deviation(known, is_squared=function == "variance")
    if isinstance(known[0], Decimal):
        return _exact_decimal(known, len(known) if function == "mean" else None)
    if function == "mean":
        return exact_quotient(known, len(known))
    if isinstance(known[0], float):
        return exact_quotient(known, 1)
    total = sum(known)
    return total if -(2**63) <= total < 2**63 else None


def _one_form(value: Any) -> Any:
    """The form in which a value is compared: both zeros are one value, and so are all NaNs."""
    if isinstance(value, float):
        return math.nan if math.isnan(value) else value + 0.0
    return value


def _above_numbers(value: Any) -> tuple[bool, Any]:
    """A sort key by which NaN is greater than every number."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0 if is_nan else value


def _exact_decimal(values: Sequence[Decimal], count: int | None) -> Decimal:
    """The sum with the scale of the values; with a count, the mean with four more places, rounded half up."""
    exponent = -int(values[0].as_tuple().exponent) + (0 if count is None else 4)
    scaled = sum(map(Fraction, values), Fraction(0)) / (count or 1) * 10**exponent
    rounded = math.floor(abs(scaled) + Fraction(1, 2)) * (-1 if scaled < 0 else 1)
    return Decimal(rounded).scaleb(-exponent, Context(prec=100))


def exact_quotient(values: Sequence[float], divisor: int) -> float:
    """The true sum over a whole number as the nearest float, infinite beyond the largest one (IEEE 754)."""
    endless = [value for value in values if not math.isfinite(value)]
    if endless:
        return sum(endless)
    total = sum(map(Fraction, values), Fraction(0)) / divisor
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def exact_deviation(values: Sequence[float | Decimal], *, is_squared: bool) -> float | None:
    """The sample standard deviation, or its square the variance, as the nearest float."""
    if len(values) < 2:
        return None
    if not all(math.isfinite(value) for value in values):
        return math.nan
    mean = sum(map(Fraction, values), Fraction(0)) / len(values)
    squares = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction(0))
    variance = squares / (len(values) - 1)
    if not is_squared:
        return _nearest_root(variance)
    try:
        return float(variance)
    except OverflowError:
        return math.inf


def _nearest_root(square: Fraction) -> float:
    many = Context(prec=3_000)  # digits: enough to write down every double, and every half between two of them
    root = many.sqrt(many.divide(Decimal(square.numerator), Decimal(square.denominator)))
    return float(root)


def _nulls_last(values: Any) -> tuple[tuple[bool, Any], ...]:
    return tuple((value is None, value) for value in values)
