"""GROUP BY, aggregates and HAVING.

The join selects the columns that groups and aggregates need, each expression once; the SELECT list and HAVING are then
expressions over the groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from punctuated.expressions.nodes import Column, Expression, Literal
from punctuated.model.aggregate import AGGREGATES, SQL_NAMES, Aggregate
from punctuated.model.arguments import free_names
from punctuated.output.groups.grouping import Grouping, check_grouping
from punctuated.output.views import View
from punctuated.sql.bind.expressions import (
    Translator,
    aggregates_in,
    checked_predicate,
    checked_value,
    function_name,
    has_aggregate,
)
from punctuated.sql.bind.from_clause import FromResult
from punctuated.sql.bind.inputs import plain_column
from punctuated.sql.bind.names import Ref
from punctuated.sql.bind.relation import GroupsRelation
from punctuated.sql.bind.select_list import OutputColumn, outputs_of
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unsupported
from punctuated.sql.parse.syntax import SelectBlock, SelectItem, match


def is_grouped(block: SelectBlock) -> bool:
    """Whether a block has GROUP BY, HAVING or an aggregate."""
    found = any(has_aggregate(item.value) for item in block.items)
    return bool(block.group_by) or found or block.having is not None


@dataclass
class _GroupColumns:
    """The columns that the join selects, those of them to group by, and the aggregates, all by name."""

    rows: FromResult
    select: dict[str, Expression] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)  # expression over the results -> name of the group column
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)  # what identifies an aggregate -> its name
    positions: dict[str, SourceSpan] = field(default_factory=dict)  # of aggregates

    def translator(self) -> Translator:
        """The translator of expressions over groups."""
        return Translator(self.rows.scope.sql, self._not_grouped, self._aggregated, self._grouped)

    def group(self, node: exp.Expr, name: str) -> None:
        """Add a column to group by."""
        value = self.rows.checked(self.rows.translator().translate(node), position_of(node, self.rows.scope.sql))
        if repr(value) not in self.by:
            self.by[repr(value)] = self._select(value, name)

    def aggregate(self, node: exp.Anonymous, name: str) -> None:
        """Add an aggregate; one that is there already is not computed again."""
        key = self._key(node)
        if key not in self.named:
            free = free_names([name], [*self.by.values(), *self.aggregates])[0]
            self.named[key], self.positions[free] = free, position_of(node, self.rows.scope.sql)
            self.aggregates[free] = self._as_aggregate(node)

    def _as_aggregate(self, node: exp.Anonymous) -> Aggregate:
        name, position = function_name(node), position_of(node, self.rows.scope.sql)
        function, arguments = SQL_NAMES[name], node.expressions
        if AGGREGATES[function].counts_rows and (not arguments or isinstance(arguments[0], exp.Star)):
            return Aggregate(function)
        if len(arguments) != 1:
            raise SqlError(f"{name.upper()} takes one value, not {len(arguments)}", position)
        if isinstance(arguments[0], exp.Distinct):
            raise unsupported(
                f"{name.upper()}(DISTINCT …)",
                position,
                "write SELECT DISTINCT in a query in FROM, and aggregate its rows",
            )
        value = self.rows.checked(self.rows.translator().translate(arguments[0]), position)
        return Aggregate(function, self._select(value, value.name if isinstance(value, Column) else f"{name}_of"))

    def _select(self, value: Expression, name: str) -> str:
        """The name of the column with this value; a new column is called `name` if that is free."""
        for known, each in self.select.items():
            if repr(each) == repr(value):
                return known
        free = free_names([name], self.select)[0]
        self.select[free] = value
        return free

    def _key(self, node: exp.Anonymous) -> str:
        """A text by which equal aggregates are recognised, under whatever name of the function."""
        return f"{SQL_NAMES[function_name(node)]}({', '.join(map(self._argument, node.expressions))})"

    def _argument(self, node: exp.Expr) -> str:
        return node.sql() if isinstance(node, exp.Star | exp.Distinct) else repr(self.rows.translator().translate(node))

    def _grouped(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Literal | exp.Star | exp.Null | exp.Boolean) or has_aggregate(node):
            return None
        name = self.by.get(repr(self.rows.translator().translate(node)))
        return None if name is None else plain_column(name)

    def _aggregated(self, node: exp.Anonymous) -> Expression:
        return plain_column(self.named[self._key(node)])

    def _not_grouped(self, node: exp.Column) -> Expression:
        raise SqlError(
            f"column {node.name!r} is not in GROUP BY: add it there, or write FIRST({node.name}) or another aggregate",
            position_of(node, self.rows.scope.sql),
        )


def groups_of(block: SelectBlock, rows: FromResult) -> GroupsRelation:
    """The groups that a block gives."""
    block = replace(block, having=_without_aliases(block.having, block.items, rows))
    outputs = outputs_of(block.items, rows.scope, rows.star())
    grouping = _GroupColumns(rows)
    for number, node in enumerate(_group_nodes(block, rows)):
        grouping.group(node, _name_of(node, outputs, number, rows))
    if not grouping.by:
        grouping.select["all_rows"] = Literal(True)
        grouping.by["True"] = "all_rows"
    for output in outputs:
        _add_aggregates(grouping, output)
    for node in aggregates_in(block.having) if block.having is not None else ():
        grouping.aggregate(node, function_name(node))
    if not grouping.aggregates:  # `agg` needs one; SELECT does not show it
        grouping.aggregates[free_names(["n"], grouping.by.values())[0]] = Aggregate("count")
    joined = rows.build(grouping.select)
    _check_aggregates(joined, grouping, block)
    return _shown(block, outputs, grouping, joined)


def _shown(block: SelectBlock, outputs: Sequence[OutputColumn], grouping: _GroupColumns, joined: Any) -> GroupsRelation:
    """The groups with the columns of the SELECT list and with HAVING; raises if types do not fit."""
    translator, by = grouping.translator(), tuple(grouping.by.values())
    schema = joined.bound.seen_as(View.GROUPS, Grouping(by, grouping.aggregates)).groups().schema
    select = dict[str, Expression]()
    for each in outputs:
        select[each.name] = checked_value(_value(each, translator), [schema], each.position)
    having = None
    if block.having is not None:
        position = position_of(block.having, grouping.rows.scope.sql)
        having = checked_predicate(translator.translate(block.having), [schema], position)
    is_plain = [repr(value) for value in select.values()] == list(select) == schema.names
    return GroupsRelation(joined, by, grouping.aggregates, having, None if is_plain else select)


def _value(output: OutputColumn, translator: Translator) -> Expression:
    if isinstance(output.value, Ref):
        raise SqlError("* cannot stand among groups: name the columns", output.position)
    return translator.translate(output.value)


def _add_aggregates(grouping: _GroupColumns, output: OutputColumn) -> None:
    if isinstance(output.value, Ref):
        return
    for node in aggregates_in(output.value):
        nested = [each for each in aggregates_in(node) if each is not node]
        if nested:
            position = position_of(nested[0], grouping.rows.scope.sql)
            raise unsupported("an aggregate inside of another one", position, "group in a query in FROM")
        grouping.aggregate(node, output.name if node is output.value else function_name(node))


def _check_aggregates(joined: Any, grouping: _GroupColumns, block: SelectBlock) -> None:
    """Raise if a type does not fit; each aggregate is checked by itself, so that the error points at it."""
    by = tuple(grouping.by.values())
    with at(_position_of_groups(block, grouping.rows.scope.sql)):
        check_grouping(joined.schema, by, {free_names(["n"], by)[0]: Aggregate("count")})
    for name, position in grouping.positions.items():
        with at(position):
            check_grouping(joined.schema, by, {name: grouping.aggregates[name]})


def _position_of_groups(block: SelectBlock, sql: str) -> SourceSpan:
    return position_of(block.group_by[0], sql) if block.group_by else block.items[0].position


def _group_nodes(block: SelectBlock, rows: FromResult) -> Iterator[exp.Expr]:
    """The expressions to group by: each is written out, or as an alias or a number of the SELECT list."""
    for node in block.group_by:
        found = _by_number(node, block.items, rows) or _by_alias(node, block.items, rows)
        value = found.value if found is not None else node
        if has_aggregate(value):
            raise SqlError("an aggregate cannot be grouped by", position_of(node, rows.scope.sql))
        yield value


def _by_number(node: exp.Expr, items: Sequence[SelectItem], rows: FromResult) -> SelectItem | None:
    literal = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    number = int(literal.this) if literal is node and str(literal.this).isdigit() else 0
    if not 1 <= number <= len(items):
        raise SqlError(f"the SELECT list has no item {node.sql()}", position_of(node, rows.scope.sql))
    return items[number - 1]


def _by_alias(node: exp.Expr, items: Sequence[SelectItem], rows: FromResult) -> SelectItem | None:
    if not isinstance(node, exp.Column) or node.table:
        return None
    if any(match(node.name, names) for names in rows.scope.columns):
        return None
    return next((item for item in items if item.alias and item.alias.text.lower() == node.name.lower()), None)


def _without_aliases(having: exp.Expr | None, items: Sequence[SelectItem], rows: FromResult) -> exp.Expr | None:
    """HAVING, with expressions of the SELECT list in place of their aliases."""

    def resolve(node: exp.Expr) -> exp.Expr:
        item = _by_alias(node, items, rows)
        return node if item is None else item.value.copy()

    return None if having is None else having.transform(resolve)


def _name_of(node: exp.Expr, outputs: Sequence[OutputColumn], number: int, rows: FromResult) -> str:
    """The name of a group column: that of the output column with the same expression, if there is one."""
    shown = [each.name for each in outputs if not isinstance(each.value, Ref) and each.value == node]
    if shown:
        return shown[0]
    return rows.scope.find(node).name if isinstance(node, exp.Column) else f"group_{number + 1}"
