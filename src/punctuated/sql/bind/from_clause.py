"""What a block reads: one stream, or several that are joined; and what its columns are called there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from punctuated.api.union import only
from punctuated.bind.streams import Stream
from punctuated.model.expression import Case, Expression, Negation, NullTest, over
from punctuated.sql.bind.expressions import Translator, checked_predicate, checked_value
from punctuated.sql.bind.inputs import FromStream, plain_column
from punctuated.sql.bind.names import Namespace, Ref, ResultNames, Scope
from punctuated.sql.bind.predicates import Conjunct, conjuncts_of
from punctuated.sql.bind.select_list import OutputColumn
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unsupported
from punctuated.sql.parse.syntax import SelectBlock

MATCHED = "matched"  # true in the rows of a stream; null in a result that has none of it
Selection = Mapping[str, Expression]


@dataclass(frozen=True)
class FromResult:
    """Rows of which a block makes its own; `build` gives the join, with all columns or those that are selected."""

    scope: Scope
    inputs: tuple[FromStream, ...]
    names: ResultNames
    build: Callable[[Selection | None], Any] = field(repr=False)
    nullable: frozenset[int] = frozenset()  # streams of which a result may have no row

    def column(self, ref: Ref) -> Expression:
        """A column of a stream, as an expression over the results."""
        value = self.inputs[ref.place].columns[ref.name]
        return value.with_columns(lambda column: self._in_results(ref.place, column.name))

    def translator(self) -> Translator:
        """Of expressions over these rows."""
        return Translator(self.scope.sql, lambda node: self.column(self.scope.find(node)))

    def value(self, output: OutputColumn) -> Expression:
        """A column of the SELECT list, its type checked."""
        if isinstance(output.value, Ref):
            return self.column(output.value)
        return self.checked(self.translator().translate(output.value), output.position)

    def checked(self, value: Expression, place: SourceSpan) -> Expression:
        """The same over the results; raises if its types do not fit."""
        return checked_value(value, [self.names.schema()], place)

    def star(self) -> list[tuple[str, Ref]]:
        """What * stands for: the key once, then the other columns that can be seen of each stream."""
        behind = {(ref.place, self.inputs[ref.place].plain(ref.name)): ref for ref in self._refs()}
        plain = [behind[each] for each in self.names.columns() if each in behind]
        shown = [(self.names.of(ref.place, self.inputs[ref.place].plain(ref.name) or ""), ref) for ref in plain]
        computed = [ref for ref in self._refs() if self.inputs[ref.place].plain(ref.name) is None]
        if len(self.inputs) == 1:
            return [(ref.name, ref) for ref in self._refs()]
        return shown + [(ref.name, ref) for ref in computed]

    def is_everything(self, select: Selection) -> bool:
        """Whether a selection is nothing but all columns as they are."""
        same = all(repr(value) == name for name, value in select.items())
        return same and list(select) == self.names.schema().names

    def _refs(self) -> list[Ref]:
        return [ref for side in range(len(self.inputs)) for ref in self.scope.refs(side)]

    def _in_results(self, side: int, name: str) -> Expression:
        stream = self.names.streams[side]
        shown = plain_column(self.names.of(side, name))
        if side not in self.nullable or name not in stream.spec.key:
            return shown
        return Case(((Negation(NullTest(plain_column(self.names.of(side, match_column(stream))))), shown),))


def match_column(stream: Any) -> str:
    """A column of a stream that is null only where a result has no row of it."""
    spec = stream.spec
    return MATCHED if spec.is_output or spec.time in spec.key else str(spec.time)


# A block over a single stream: its filters are part of the stream.


def read_one(block: SelectBlock, one: FromStream, given: Namespace, sql: str) -> FromResult:
    """The rows of one stream that WHERE keeps."""
    if block.near:
        raise SqlError("WINDOW is between streams, and FROM has one", block.near[0].position)
    window = one.source.window
    if window is not None and window.kind != "unbounded":
        instead = "leave it out; the window of a query in FROM stands behind the query"
        raise unsupported("a window of a stream that is not joined", window.position, instead)
    scope = scope_of([one], sql)
    filters = [stream_filter(part, one, scope) for part in conjuncts_of(block.where, scope, in_where=True)]
    alone = one.declared(None, filters, given.things, windowed=False)
    names = ResultNames((alone,), "inner")
    return FromResult(scope, (one,), names, lambda select: by_itself(alone, select, one.source.position))


def by_itself(alone: Stream, select: Selection | None, place: SourceSpan) -> Any:
    """One stream without a join."""
    with at(place):
        return only(alone, select=select)


def scope_of(inputs: Sequence[FromStream], sql: str) -> Scope:
    """What can be seen of the streams of a FROM; raises if two have one name."""
    for number, one in enumerate(inputs):
        if one.alias in [each.alias for each in inputs[:number]]:
            raise SqlError(f"two streams are called {one.alias!r}: give one an alias", one.source.position)
    return Scope(sql, tuple(one.alias for one in inputs), tuple(tuple(one.columns) for one in inputs))


def stream_filter(part: Conjunct, one: FromStream, scope: Scope) -> Expression:
    """A predicate on one stream, over the columns that it really has."""
    translator = Translator(scope.sql, lambda node: plain_column(scope.find(node).name))
    value = over(translator.translate(part.node), one.columns)
    return checked_predicate(value, [one.stream.schema], position_of(part.node, scope.sql))
