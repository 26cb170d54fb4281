"""Shapes: which columns are made of those of a table, by `select=`, and which of its rows are kept, by `where=`.

A column that is only renamed is not copied.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from punctuated.errors import ColumnError, PredicateError
from punctuated.expressions.evaluate import Mask, check_predicate, column_of, result_type, which_hold
from punctuated.expressions.nodes import HERE, Column, Expression
from punctuated.model.arguments import column_names, hint_of

Select: TypeAlias = Mapping[str, Expression | str] | Sequence[str]
__all__ = ["Mask", "Select", "Shape"]


@dataclass(frozen=True, repr=False)
class Shape:
    """Columns and rows made of tables with the columns `source`."""

    source: pa.Schema
    columns: tuple[tuple[str, Expression], ...]
    schema: pa.Schema  # of the columns that are made
    where: Expression | None = None

    @staticmethod
    def of(source: pa.Schema, select: Select | None, where: Expression | None, owner: str) -> "Shape":
        """The shape that is asked for; raises if it cannot be made of such tables."""
        columns = tuple(columns_of(select, source, owner))
        for _, each in columns:
            _check(each, source, owner)
        fields = [pa.field(name, result_type(each, source)) for name, each in columns]
        if where is not None:
            if not isinstance(where, Expression):
                raise PredicateError(f"{owner}: {where!r} is not a predicate; build one from pt.column(…)")
            _check(where, source, owner)
            check_predicate(where, [source])
        return Shape(source, columns, pa.schema(fields), where)

    def __repr__(self) -> str:
        shown = ", ".join(name if repr(each) == name else f"{name} = {each}" for name, each in self.columns)
        return shown if self.where is None else f"{shown} where {self.where}"

    @property
    def needed(self) -> list[str]:
        """The columns of the source that the shape reads, in their order there."""
        expressions = [*(each for _, each in self.columns), *([] if self.where is None else [self.where])]
        names = {column.name for each in expressions for column in each.columns()}
        return [name for name in self.source.names if name in names]

    @property
    def compared(self) -> list[str]:
        """The columns of the source from which something is computed."""
        expressions = [*(each for _, each in self.columns), *([] if self.where is None else [self.where])]
        computed = (each for each in expressions if not isinstance(each, Column))
        return sorted({column.name for each in computed for column in each.columns()})

    def source_of(self, name: str) -> str | None:
        """The column of the source that is only renamed to become this one; None if it is computed."""
        made = dict(self.columns)[name]
        return made.name if isinstance(made, Column) else None

    @property
    def names(self) -> dict[str, str]:
        """The new names of columns that are only renamed, by their names in the source."""
        return {made.name: name for name, made in reversed(self.columns) if isinstance(made, Column)}

    def renamed(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """The new names of these columns of the source; None if one of them is not kept as it is."""
        shown = self.names
        return tuple(shown[name] for name in names) if shown.keys() >= set(names) else None

    def shaped(self, table: pa.Table) -> pa.Table:
        """The columns of the shape, for all rows of a table."""
        typed = zip(self.columns, self.schema, strict=True)
        return pa.table([column_of(made, table, field.type) for (_, made), field in typed], names=self.schema.names)

    def kept(self, table: pa.Table) -> Mask:
        """Which rows of a table are kept."""
        return np.ones(len(table), np.bool_) if self.where is None else which_hold(self.where, [table])


def shape_results(source: pa.Schema, select: Select | None, where: Expression | None, owner: str) -> Shape:
    """The shape of results, which must have a column."""
    shape = Shape.of(source, select, where, owner)
    if not shape.columns:
        raise ColumnError(f"{owner}: select= names no column; name one at least")
    return shape


def selected_names(select: Sequence[str]) -> tuple[str, ...]:
    """The columns that `select=` lists."""
    if isinstance(select, str):
        raise ColumnError(f"select={select!r}: give a list of column names")
    return column_names(select, "select", ColumnError)


def columns_of(select: Select | None, source: pa.Schema, owner: str) -> list[tuple[str, Expression]]:
    """The names of columns and the expressions they are; all columns of the source if `select` is None."""
    if isinstance(select, str):
        raise ColumnError(f"{owner}: select={select!r}: give a list of column names, or names and expressions")
    if select is None or not isinstance(select, Mapping):
        names = source.names if select is None else column_names(select, "select", ColumnError)
        found = [(name, _expression(name, name, owner)) for name in names]
    else:
        found = [(name, _expression(name, value, owner)) for name, value in select.items()]
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise ColumnError(f"{owner}: select names a column twice: {', '.join(names)}")
    return found


def _expression(name: Any, value: Any, owner: str) -> Expression:
    if not isinstance(name, str):
        raise ColumnError(f"{owner}: select={{{name!r}: …}}: give the name of a column as text")
    if isinstance(value, str):
        return Column(HERE, value)
    if not isinstance(value, Expression):
        raise ColumnError(f"{owner}: select={{{name!r}: {value!r}}}: give the name of a column, or an expression")
    return value


def _check(expression: Expression, source: pa.Schema, owner: str) -> None:
    for column in expression.columns():
        if column.side != HERE:
            raise PredicateError(f"{owner}: {column} is of a stream; write pt.column({column.name!r})")
        if column.name not in source.names:
            raise ColumnError(
                f"{owner}: there is no column {column.name!r}; {hint_of(column.name, source.names, 'there are')}"
            )
