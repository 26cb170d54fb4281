"""The SELECT list as output columns: items have names, and stars are written out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from punctuated.sql.bind.expressions import function_name
from punctuated.sql.bind.names import Ref, Scope
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError
from punctuated.sql.parse.syntax import SelectItem


@dataclass(frozen=True)
class OutputColumn:
    """A column of the output: an expression, or one of the columns that a star stands for."""

    name: str
    value: exp.Expr | Ref
    position: SourceSpan = field(repr=False)


def outputs_of(items: Sequence[SelectItem], scope: Scope, star: Sequence[tuple[str, Ref]]) -> list[OutputColumn]:
    """All columns of a SELECT list; `star` is what * stands for."""
    found = [each for number, item in enumerate(items) for each in _outputs(item, number + 1, scope, star)]
    seen = dict[str, OutputColumn]()
    for each in found:
        if each.name not in seen:
            seen[each.name] = each
        elif not _are_equal(each, seen[each.name], scope):
            raise SqlError(f"there are two columns {each.name!r}: give one of them an alias, … AS name", each.position)
    return list(seen.values())


def is_star(item: SelectItem) -> bool:
    """Whether this is * for all columns of all streams."""
    return isinstance(item.value, exp.Star)


def _outputs(item: SelectItem, number: int, scope: Scope, star: Sequence[tuple[str, Ref]]) -> Iterator[OutputColumn]:
    value = item.value
    if is_star(item) or (isinstance(value, exp.Column) and isinstance(value.this, exp.Star)):
        _check_star(item)
        refs = list(star) if is_star(item) else _of_stream(value, scope, star)
        yield from (OutputColumn(name, ref, item.position) for name, ref in refs)
    else:
        yield OutputColumn(item.alias.text if item.alias else _name(value, number, scope), value, item.position)


def _are_equal(one: OutputColumn, other: OutputColumn, scope: Scope) -> bool:
    """Whether two stars stand for the same column, which comes once: a key of both streams."""
    refs = {each.value for each in (one, other) if isinstance(each.value, Ref)}
    both_stars = isinstance(one.value, Ref) and isinstance(other.value, Ref)
    return both_stars and (len(refs) == 1 or any(group.issuperset(refs) for group in scope.equal))


def _check_star(item: SelectItem) -> None:
    if item.alias is not None:
        raise SqlError("* has no alias: it stands for several columns", item.alias.position)
    star = item.value if is_star(item) else item.value.this
    if any(star.args.get(word) for word in ("except_", "except", "replace", "rename")):
        raise SqlError("* stands for all columns: name those that you want", item.position)


def _of_stream(value: exp.Expr, scope: Scope, star: Sequence[tuple[str, Ref]]) -> list[tuple[str, Ref]]:
    """The columns that `A.*` stands for; one whose name other streams have too is called as in the results."""
    assert isinstance(value, exp.Column)
    side = scope.stream(value.table, position_of(value, scope.sql))
    known = {ref: name for name, ref in star}
    return [(known.get(ref, ref.name), ref) for ref in scope.refs(side)]


def _name(value: exp.Expr, number: int, scope: Scope) -> str:
    """The name of an item without an alias: that of the column or the function, else its number."""
    while isinstance(value, exp.Paren):
        value = value.this
    if isinstance(value, exp.Column):
        return scope.find(value).name
    if isinstance(value, exp.Anonymous):
        return function_name(value)
    return f"column_{number}"
