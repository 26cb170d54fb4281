"""FROM and WHERE: the rows that a block selects or groups, and FROM over a single stream.

A stream that stands alone is read with its filters and without its window; `join_clause` reads several.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from punctuated.api.union import only
from punctuated.bind.streams import Stream
from punctuated.expressions.nodes import CaseWhen, Expression, Negation, NullTest, over
from punctuated.sql.bind.expressions import Translator, checked_predicate, checked_value
from punctuated.sql.bind.inputs import FromStream, plain_column
from punctuated.sql.bind.names import Namespace, Ref, ResultNames, Scope
from punctuated.sql.bind.predicates import Conjunct, conjuncts_of
from punctuated.sql.bind.select_list import OutputColumn
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unsupported
from punctuated.sql.parse.syntax import SelectBlock

MATCHED = "matched"  # a column that is true in each row of a stream; null in a result without a row of it
Selection = Mapping[str, Expression]


@dataclass(frozen=True)
class FromResult:
    """The rows that FROM and WHERE give; `build` makes the join, with the selected columns or with all."""

    scope: Scope
    inputs: tuple[FromStream, ...]
    names: ResultNames
    build: Callable[[Selection | None], Any] = field(repr=False)
    nullable: frozenset[int] = frozenset()  # streams of which a result may have no row

    def column(self, ref: Ref) -> Expression:
        """A column of a stream, as an expression over the results."""
        value = self.inputs[ref.side].columns[ref.name]
        return value.with_columns(lambda column: self._in_results(ref.side, column.name))

    def translator(self) -> Translator:
        """The translator of expressions over these rows."""
        return Translator(self.scope.sql, lambda node: self.column(self.scope.find(node)))

    def value(self, output: OutputColumn) -> Expression:
        """A column of the SELECT list as an expression over the results; raises if its types do not fit."""
        if isinstance(output.value, Ref):
            return self.column(output.value)
        return self.checked(self.translator().translate(output.value), output.position)

    def checked(self, value: Expression, position: SourceSpan) -> Expression:
        """An expression over the results, fitted to their types; raises if these do not fit."""
        return checked_value(value, [self.names.schema()], position)

    def star(self) -> list[tuple[str, Ref]]:
        """The columns that * stands for: the key once, then the other visible columns of each stream."""
        visible = {(ref.side, self.inputs[ref.side].own_name(ref.name)): ref for ref in self._refs()}
        plain = [visible[each] for each in self.names.columns() if each in visible]
        shown = [(self.names.of(ref.side, self.inputs[ref.side].own_name(ref.name) or ""), ref) for ref in plain]
        computed = [ref for ref in self._refs() if self.inputs[ref.side].own_name(ref.name) is None]
        if len(self.inputs) == 1:
            return [(ref.name, ref) for ref in self._refs()]
        return shown + [(ref.name, ref) for ref in computed]

    def is_everything(self, select: Selection) -> bool:
        """Whether a selection is just all columns as they are."""
        same = all(repr(value) == name for name, value in select.items())
        return same and list(select) == self.names.schema().names

    def _refs(self) -> list[Ref]:
        return [ref for side in range(len(self.inputs)) for ref in self.scope.refs(side)]

    def _in_results(self, side: int, name: str) -> Expression:
        stream = self.names.streams[side]
        shown = plain_column(self.names.of(side, name))
        if side not in self.nullable or name not in stream.spec.key:
            return shown
        return CaseWhen(((Negation(NullTest(plain_column(self.names.of(side, match_column(stream))))), shown),))


def match_column(stream: Any) -> str:
    """A column of a stream that is null only where a result has no row of it."""
    spec = stream.spec
    return MATCHED if spec.is_output or spec.time in spec.key else str(spec.time)


# One stream


def read_one(block: SelectBlock, one: FromStream, namespace: Namespace, sql: str) -> FromResult:
    """The rows of one stream that WHERE keeps."""
    if block.within:
        raise SqlError("WINDOW is between streams, and FROM has one", block.within[0].position)
    window = one.source.window
    if window is not None and window.kind != "unbounded":
        instead = "leave it out; the window of a query in FROM stands behind the query"
        raise unsupported("a window of a stream that is not joined", window.position, instead)
    scope = scope_of([one], sql)
    filters = [stream_filter(conjunct, one, scope) for conjunct in conjuncts_of(block.where, scope, in_where=True)]
    filtered = one.declared(None, filters, namespace.arguments, windowed=False)
    names = ResultNames((filtered,), "inner")
    return FromResult(scope, (one,), names, lambda select: by_itself(filtered, select, one.source.position))


def by_itself(filtered: Stream, select: Selection | None, position: SourceSpan) -> Any:
    """One stream, read without a join."""
    with at(position):
        return only(filtered, select=select)


def scope_of(inputs: Sequence[FromStream], sql: str) -> Scope:
    """The visible columns of the streams of a FROM; raises if two streams have the same name."""
    for number, one in enumerate(inputs):
        if one.alias in [each.alias for each in inputs[:number]]:
            raise SqlError(f"two streams are called {one.alias!r}: give one an alias", one.source.position)
    return Scope(sql, tuple(one.alias for one in inputs), tuple(tuple(one.columns) for one in inputs))


def stream_filter(conjunct: Conjunct, one: FromStream, scope: Scope) -> Expression:
    """A predicate on one stream, as an expression over the columns that the stream has."""
    translator = Translator(scope.sql, lambda node: plain_column(scope.find(node).name))
    value = over(translator.translate(conjunct.node), one.columns)
    return checked_predicate(value, [one.stream.schema], position_of(conjunct.node, scope.sql))
