"""FROM and WHERE over several streams: they are declared for this query, and joined."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from punctuated.api.join import join, path
from punctuated.api.stream import stream
from punctuated.bind.streams import Stream
from punctuated.model.expression import Column, Expression, Literal
from punctuated.sql.bind.expressions import Translator, checked_predicate
from punctuated.sql.bind.from_clause import (
    MATCHED,
    FromResult,
    Selection,
    by_itself,
    match_column,
    scope_of,
    stream_filter,
)
from punctuated.sql.bind.inputs import FromStream, alias_of, all_of, own_columns, plain_column
from punctuated.sql.bind.names import Namespace, Ref, ResultNames, Scope
from punctuated.sql.bind.predicates import Conjunct, JoinKey, Pushdown, compute_keys, conjuncts_of, join_key, push_down
from punctuated.sql.bind.windows import bound_path, bound_within
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unsupported
from punctuated.sql.parse.syntax import JoinClause, Name, SelectBlock, match

_NULLABLE = {"left": {1}, "right": {0}, "full": {0, 1}}
_ONE_SIDED = ("semi", "anti")


def read_joined(block: SelectBlock, inputs: Sequence[FromStream], given: Namespace, sql: str) -> FromResult:
    """The results of joined streams, of which a block makes its own rows."""
    how = _how(block)
    inputs = _along_the_path(block, inputs, given, sql)
    scope = scope_of(inputs, sql)
    parts, having = compute_keys([*_on(block, scope), *conjuncts_of(block.where, scope, in_where=True)], inputs, scope)
    placed = push_down(parts, how)
    key = join_key([pair for _, pair in placed.equalities], [_visible_key(one) for one in having])
    extra = [part for part, pair in placed.equalities if not key.holds(pair)] + placed.extra
    if not key.columns[0] and (placed.equalities or not extra):
        raise _no_predicate(block, scope, placed)
    joining = _StreamJoin.of(
        _JoinInputs(block, having, replace(scope, equal=key.groups), how, key, placed, given.things), extra
    )
    core = joining.core()
    return _filtered(core, placed.after, block) if placed.after else core


def _along_the_path(block: SelectBlock, inputs: Sequence[FromStream], given: Namespace, sql: str) -> list[FromStream]:
    """In the order of DWINDOW, if there is one."""
    if not block.near or not block.near[0].directed:
        return list(inputs)
    order, _ = bound_path(block.near, scope_of(inputs, sql), given.things)
    return [inputs[side] for side in order]


@dataclass(frozen=True)
class _JoinInputs:
    """The streams of a join, and what is known of how they are joined."""

    block: SelectBlock
    given: Sequence[FromStream]
    scope: Scope
    how: str
    key: JoinKey
    placed: Pushdown
    values: Mapping[str, Any] = field(repr=False)

    def inputs(self) -> tuple[FromStream, ...]:
        """All of them, the columns of the key among those that they really have."""
        return tuple(one.with_columns(names) for one, names in zip(self.given, self.key.columns, strict=True))

    def declared(self, side: int, one: FromStream) -> Stream:
        """A stream for this join: its key, its window, and its rows that filters keep."""
        window = one.source.window
        if self.block.near and window is not None:
            raise SqlError("WINDOW stands in place of the windows of streams: leave one of them out", window.position)
        filters = [stream_filter(part, one, self.scope) for part in self.placed.filters.get(side, [])]
        key = tuple(one.plain(name) or name for name in self.key.columns[side])
        found = one.declared(key, filters, self.values, windowed=True)
        if side in _NULLABLE.get(self.how, ()) and match_column(found) == MATCHED:
            return found.with_(
                select={name: plain_column(name) for name in own_columns(found)} | {MATCHED: Literal(True)}
            )
        return found


@dataclass(frozen=True)
class _StreamJoin:
    """All that a join needs but the columns that are wanted of it."""

    sides: _JoinInputs
    inputs: tuple[FromStream, ...]
    streams: tuple[Stream, ...]
    where: Expression | None

    @staticmethod
    def of(sides: _JoinInputs, extra: Sequence[Conjunct]) -> "_StreamJoin":
        """The join of these streams; `extra` is what their rows must satisfy beside the key."""
        inputs = sides.inputs()
        streams = tuple(sides.declared(side, one) for side, one in enumerate(inputs))
        predicates = [_extra(part, inputs, streams, sides.scope) for part in extra]
        return _StreamJoin(sides, inputs, streams, all_of(predicates) if predicates else None)

    def core(self) -> FromResult:
        """Its results, and what can be seen of them."""
        scope, how = self.sides.scope, self.sides.how
        if how in _ONE_SIDED:
            scope = replace(scope, columns=(scope.columns[0], ()))
        nullable = frozenset(_NULLABLE.get(how, ()))
        return FromResult(scope, self.inputs, ResultNames(self.streams, how), self.build, nullable)

    def build(self, select: Selection | None) -> Any:
        """The join, with these columns."""
        block, scope, values = self.sides.block, self.sides.scope, self.sides.values
        options: dict[str, Any] = {"where": self.where, "select": select}
        with at(self._place()):
            if block.near and block.near[0].directed:
                _, steps = bound_path(block.near, scope, values)
                return path(*self.streams, within=steps, both_directions=block.both_directions, **options)
            within = bound_within(block.near, scope, values) if block.near else None
            return join(*self.streams, how=self.sides.how, within=within, **options)

    def _place(self) -> SourceSpan:
        near, sources = self.sides.block.near, self.sides.block.sources
        return near[0].position if near else sources[0].position.to(sources[-1].position)


def _how(block: SelectBlock) -> str:
    for each in block.joined:
        if each.how != "inner" and len(block.joined) > 1:
            raise unsupported(
                "an outer, semi or anti join among more than two streams",
                each.position,
                "write the other join as a query in FROM: (SELECT … FROM … WHERE …) AS name",
            )
    first = block.joined[0]
    if first.how != "inner" and block.near and block.near[0].directed:
        instead = "write windows behind the streams, such as A [RANGE 5 MINUTES], B [NOW]"
        raise unsupported("an outer, semi or anti join by DWINDOW", first.position, instead)
    return first.how


def _on(block: SelectBlock, scope: Scope) -> list[Conjunct]:
    parts = list[Conjunct]()
    for each in block.joined:
        parts += conjuncts_of(each.on, scope, in_where=False)
        parts += [
            part for name in each.using for part in conjuncts_of(_using(name, each, scope), scope, in_where=False)
        ]
    return parts


def _using(name: Name, joining: JoinClause, scope: Scope) -> exp.Expr:
    """`USING (k)`: the column k of this stream and of the first other one that has it."""
    theirs = alias_of(joining.source)
    having = [alias for alias, names in zip(scope.aliases, scope.columns, strict=True) if match(name.text, names)]
    ours = next((alias for alias in having if alias != theirs), None)
    if theirs not in having or ours is None:
        where = theirs if theirs not in having else "the streams before it"
        raise SqlError(f"there is no column {name.text!r} in {where}", name.position)
    start, end = name.position.start, name.position.end - 1
    columns = [exp.column(name.text, table=alias).update_positions(start=start, end=end) for alias in (ours, theirs)]
    return exp.EQ(this=columns[0], expression=columns[1])


def _visible_key(one: FromStream) -> tuple[str, ...]:
    """The declared key, by the names that the query sees."""
    by_own = {one.plain(name): name for name in one.columns}
    key = one.stream.spec.key
    return tuple(by_own[name] for name in key) if all(name in by_own for name in key) else ()


def _extra(part: Conjunct, inputs: Sequence[FromStream], streams: Sequence[Stream], scope: Scope) -> Expression:
    """A predicate over the rows of a result, by stream and column."""

    def of_stream(node: exp.Column) -> Expression:
        ref: Ref = scope.find(node)
        alias = streams[ref.place].spec.name
        return inputs[ref.place].columns[ref.name].with_columns(lambda each: Column(ref.place, each.name, alias))

    value = Translator(scope.sql, of_stream).translate(part.node)
    return checked_predicate(value, [each.schema for each in streams], position_of(part.node, scope.sql))


def _no_predicate(block: SelectBlock, scope: Scope, placed: Pushdown) -> SqlError:
    if placed.equalities:
        return unsupported(
            "streams that are joined by different keys in one FROM",
            block.sources[-1].position,
            "join two of them in a query in FROM, (SELECT … FROM … WHERE …) AS name, and give it a window",
        )
    names = " and ".join(scope.aliases)
    message = f"nothing joins {names}: say how in WHERE or ON, such as {scope.aliases[0]}.key = {scope.aliases[1]}.key"
    return SqlError(message, block.sources[-1].position, expected="a predicate")


def _filtered(core: FromResult, after: Sequence[Conjunct], block: SelectBlock) -> FromResult:
    """The results of an outer join, of which WHERE takes some."""
    translator, results = core.translator(), [core.names.schema()]
    predicates = [
        checked_predicate(translator.translate(part.node), results, position_of(part.node, core.scope.sql))
        for part in after
    ]
    with at(position_of(after[0].node, core.scope.sql)):
        taken: Stream = stream(core.build(None), name="".join(core.scope.aliases), where=all_of(predicates))
    return replace(core, build=lambda select: by_itself(taken, select, block.source.position))
