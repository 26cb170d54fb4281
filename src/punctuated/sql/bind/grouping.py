"""GROUP BY and aggregates: what the join must bring, what is computed of each group, and what is shown of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from punctuated.model.aggregate import AGGREGATES, SQL_NAMES, Aggregate
from punctuated.model.arguments import free_names
from punctuated.model.expression import Column, Expression, Literal
from punctuated.output.groups.grouping import Grouping, check_grouping
from punctuated.output.views import View
from punctuated.sql.bind.core import Core
from punctuated.sql.bind.expressions import (
    Translator,
    aggregates_in,
    checked_predicate,
    checked_value,
    function_name,
    has_aggregate,
)
from punctuated.sql.bind.inputs import here
from punctuated.sql.bind.names import Ref, match
from punctuated.sql.bind.outputs import Output, outputs_of
from punctuated.sql.bind.relation import Groups
from punctuated.sql.parse.dialect import place_of
from punctuated.sql.parse.errors import Place, SqlError, at, unsupported
from punctuated.sql.parse.syntax import Block, Item


def is_grouped(block: Block) -> bool:
    """Whether a block gives groups."""
    found = any(has_aggregate(item.value) for item in block.items)
    return bool(block.group_by) or found or block.having is not None


@dataclass
class _Grouping:
    """Columns that the join brings, groups among them, and aggregates, by name."""

    core: Core
    select: dict[str, Expression] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)  # expression over the results -> name of the group column
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    named: dict[str, str] = field(default_factory=dict)  # text of an aggregate -> its name
    places: dict[str, Place] = field(default_factory=dict)  # of aggregates

    def translator(self) -> Translator:
        """Of expressions over groups."""
        return Translator(self.core.scope.sql, self._not_grouped, self._aggregated, self._grouped)

    def group(self, node: exp.Expr, name: str) -> None:
        """One more column to group by."""
        value = self.core.checked(self.core.translator().translate(node), place_of(node, self.core.scope.sql))
        if repr(value) not in self.by:
            self.by[repr(value)] = self._bring(value, name)

    def aggregate(self, node: exp.Anonymous, name: str) -> None:
        """One more aggregate; the same one twice is computed once."""
        key = self._key(node)
        if key not in self.named:
            free = free_names([name], [*self.by.values(), *self.aggregates])[0]
            self.named[key], self.places[free] = free, place_of(node, self.core.scope.sql)
            self.aggregates[free] = self._as_aggregate(node)

    def _as_aggregate(self, node: exp.Anonymous) -> Aggregate:
        name, place = function_name(node), place_of(node, self.core.scope.sql)
        function, arguments = SQL_NAMES[name], node.expressions
        if AGGREGATES[function].counts_rows and (not arguments or isinstance(arguments[0], exp.Star)):
            return Aggregate(function)
        if len(arguments) != 1:
            raise SqlError(f"{name.upper()} takes one value, not {len(arguments)}", place)
        if isinstance(arguments[0], exp.Distinct):
            raise unsupported(
                f"{name.upper()}(DISTINCT …)", place, "write SELECT DISTINCT in a query in FROM, and aggregate its rows"
            )
        value = self.core.checked(self.core.translator().translate(arguments[0]), place)
        return Aggregate(function, self._bring(value, value.name if isinstance(value, Column) else f"{name}_of"))

    def _bring(self, value: Expression, name: str) -> str:
        """The column of the join with this value."""
        for known, each in self.select.items():
            if repr(each) == repr(value):
                return known
        free = free_names([name], self.select)[0]
        self.select[free] = value
        return free

    def _key(self, node: exp.Anonymous) -> str:
        """Two aggregates with the same key are the same, under whatever name of the function."""
        return f"{SQL_NAMES[function_name(node)]}({', '.join(map(self._argument, node.expressions))})"

    def _argument(self, node: exp.Expr) -> str:
        return node.sql() if isinstance(node, exp.Star | exp.Distinct) else repr(self.core.translator().translate(node))

    def _grouped(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Literal | exp.Star | exp.Null | exp.Boolean) or has_aggregate(node):
            return None
        name = self.by.get(repr(self.core.translator().translate(node)))
        return None if name is None else here(name)

    def _aggregated(self, node: exp.Anonymous) -> Expression:
        return here(self.named[self._key(node)])

    def _not_grouped(self, node: exp.Column) -> Expression:
        raise SqlError(
            f"column {node.name!r} is not in GROUP BY: add it there, or write FIRST({node.name}) or another aggregate",
            place_of(node, self.core.scope.sql),
        )


def groups_of(block: Block, core: Core) -> Groups:
    """The groups of a block."""
    block = replace(block, having=_without_aliases(block.having, block.items, core))
    outputs = outputs_of(block.items, core.scope, core.star())
    grouping = _Grouping(core)
    for number, node in enumerate(_group_nodes(block, core)):
        grouping.group(node, _name_of(node, outputs, number, core))
    if not grouping.by:
        grouping.select["all_rows"] = Literal(True)
        grouping.by["True"] = "all_rows"
    for output in outputs:
        _take_aggregates(grouping, output)
    for node in aggregates_in(block.having) if block.having is not None else ():
        grouping.aggregate(node, function_name(node))
    if not grouping.aggregates:  # groups have one, if nobody looks at it
        grouping.aggregates[free_names(["n"], grouping.by.values())[0]] = Aggregate("count")
    joined = core.build(grouping.select)
    _check_aggregates(joined, grouping, block)
    return _shown(block, outputs, grouping, joined)


def _shown(block: Block, outputs: Sequence[Output], grouping: _Grouping, joined: Any) -> Groups:
    """What is shown of groups, its types checked."""
    translator, by = grouping.translator(), tuple(grouping.by.values())
    schema = joined.bound.seen_as(View.GROUPS, Grouping(by, grouping.aggregates)).groups().schema
    select = dict[str, Expression]()
    for each in outputs:
        select[each.name] = checked_value(_value(each, translator), [schema], each.position)
    having = None
    if block.having is not None:
        place = place_of(block.having, grouping.core.scope.sql)
        having = checked_predicate(translator.translate(block.having), [schema], place)
    is_plain = [repr(value) for value in select.values()] == list(select) == schema.names
    return Groups(joined, by, grouping.aggregates, having, None if is_plain else select)


def _value(output: Output, translator: Translator) -> Expression:
    if isinstance(output.value, Ref):
        raise SqlError("* cannot stand among groups: name the columns", output.position)
    return translator.translate(output.value)


def _take_aggregates(grouping: _Grouping, output: Output) -> None:
    if isinstance(output.value, Ref):
        return
    for node in aggregates_in(output.value):
        nested = [each for each in aggregates_in(node) if each is not node]
        if nested:
            place = place_of(nested[0], grouping.core.scope.sql)
            raise unsupported("an aggregate inside of another one", place, "group in a query in FROM")
        grouping.aggregate(node, output.name if node is output.value else function_name(node))


def _check_aggregates(joined: Any, grouping: _Grouping, block: Block) -> None:
    """Each by itself, so that an error points at the right one."""
    by = tuple(grouping.by.values())
    with at(_place_of_groups(block, grouping.core.scope.sql)):
        check_grouping(joined.schema, by, {free_names(["n"], by)[0]: Aggregate("count")})
    for name, place in grouping.places.items():
        with at(place):
            check_grouping(joined.schema, by, {name: grouping.aggregates[name]})


def _place_of_groups(block: Block, sql: str) -> Place:
    return place_of(block.group_by[0], sql) if block.group_by else block.items[0].position


def _group_nodes(block: Block, core: Core) -> Iterator[exp.Expr]:
    """What is grouped by: an expression, the alias of one, or its number in the SELECT list."""
    for node in block.group_by:
        found = _by_number(node, block.items, core) or _by_alias(node, block.items, core)
        value = found.value if found is not None else node
        if has_aggregate(value):
            raise SqlError("an aggregate cannot be grouped by", place_of(node, core.scope.sql))
        yield value


def _by_number(node: exp.Expr, items: Sequence[Item], core: Core) -> Item | None:
    literal = node.this if isinstance(node, exp.Neg) else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    number = int(literal.this) if literal is node and str(literal.this).isdigit() else 0
    if not 1 <= number <= len(items):
        raise SqlError(f"the SELECT list has no item {node.sql()}", place_of(node, core.scope.sql))
    return items[number - 1]


def _by_alias(node: exp.Expr, items: Sequence[Item], core: Core) -> Item | None:
    if not isinstance(node, exp.Column) or node.table:
        return None
    if any(match(node.name, names) for names in core.scope.columns):
        return None
    return next((item for item in items if item.alias and item.alias.text.lower() == node.name.lower()), None)


def _without_aliases(having: exp.Expr | None, items: Sequence[Item], core: Core) -> exp.Expr | None:
    """HAVING with the expressions themselves in place of their aliases."""

    def meant(node: exp.Expr) -> exp.Expr:
        item = _by_alias(node, items, core)
        return node if item is None else item.value.copy()

    return None if having is None else having.transform(meant)


def _name_of(node: exp.Expr, outputs: Sequence[Output], number: int, core: Core) -> str:
    """A group column goes by its name in the output, if it is there as it is."""
    shown = [each.name for each in outputs if not isinstance(each.value, Ref) and each.value == node]
    if shown:
        return shown[0]
    return core.scope.find(node).name if isinstance(node, exp.Column) else f"group_{number + 1}"
