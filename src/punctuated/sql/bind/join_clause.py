"""FROM and WHERE over several streams: each is declared anew for the query, with its filters, and they are joined.

Equalities of WHERE and ON become the join key, predicates on one stream its filters, and the others `where=` of the
join.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from punctuated.api.join import join, path
from punctuated.api.stream import stream
from punctuated.bind.streams import Stream
from punctuated.expressions.nodes import Column, Expression, Literal
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


def read_joined(block: SelectBlock, inputs: Sequence[FromStream], namespace: Namespace, sql: str) -> FromResult:
    """The rows of several streams, joined and filtered."""
    how = _how(block)
    inputs = _along_the_path(block, inputs, namespace, sql)
    scope = scope_of(inputs, sql)
    conjuncts, keyed = compute_keys(
        [*_on(block, scope), *conjuncts_of(block.where, scope, in_where=True)], inputs, scope
    )
    pushdown = push_down(conjuncts, how)
    key = join_key([pair for _, pair in pushdown.equalities], [_visible_key(one) for one in keyed])
    residual = [conjunct for conjunct, pair in pushdown.equalities if not key.holds(pair)] + pushdown.residual
    if not key.columns[0] and (pushdown.equalities or not residual):
        raise _no_predicate(block, scope, pushdown)
    joined_scope = replace(scope, equal=key.groups)
    join_inputs = _JoinInputs(block, keyed, joined_scope, how, key, pushdown, namespace.arguments)
    rows = _StreamJoin.of(join_inputs, residual).rows()
    return _filtered(rows, pushdown.after, block) if pushdown.after else rows


def _along_the_path(
    block: SelectBlock, inputs: Sequence[FromStream], namespace: Namespace, sql: str
) -> list[FromStream]:
    """The streams in the order of DWINDOW, or of FROM if there is none."""
    if not block.within or not block.within[0].directed:
        return list(inputs)
    order, _ = bound_path(block.within, scope_of(inputs, sql), namespace.arguments)
    return [inputs[side] for side in order]


@dataclass(frozen=True)
class _JoinInputs:
    """The streams of a join, and what their declarations depend on."""

    block: SelectBlock
    from_streams: Sequence[FromStream]
    scope: Scope
    how: str
    key: JoinKey
    pushdown: Pushdown
    arguments: Mapping[str, Any] = field(repr=False)

    def inputs(self) -> tuple[FromStream, ...]:
        """All streams; the columns of the key are among those that they have themselves."""
        return tuple(one.with_columns(names) for one, names in zip(self.from_streams, self.key.columns, strict=True))

    def declared(self, side: int, one: FromStream) -> Stream:
        """One stream as this join reads it: with its key, its window and its filters."""
        window = one.source.window
        if self.block.within and window is not None:
            raise SqlError("WINDOW stands in place of the windows of streams: leave one of them out", window.position)
        filters = [stream_filter(conjunct, one, self.scope) for conjunct in self.pushdown.filters.get(side, [])]
        key = tuple(one.own_name(name) or name for name in self.key.columns[side])
        found = one.declared(key, filters, self.arguments, windowed=True)
        if side in _NULLABLE.get(self.how, ()) and match_column(found) == MATCHED:
            return found.with_(
                select={name: plain_column(name) for name in own_columns(found)} | {MATCHED: Literal(True)}
            )
        return found


@dataclass(frozen=True)
class _StreamJoin:
    """A join of declared streams, which is built once the wanted columns are known."""

    join_inputs: _JoinInputs
    inputs: tuple[FromStream, ...]
    streams: tuple[Stream, ...]
    where: Expression | None

    @staticmethod
    def of(join_inputs: _JoinInputs, extra: Sequence[Conjunct]) -> "_StreamJoin":
        """The join of these streams; their rows must satisfy the `residual` predicates beside the key."""
        inputs = join_inputs.inputs()
        streams = tuple(join_inputs.declared(side, one) for side, one in enumerate(inputs))
        predicates = [_residual(conjunct, inputs, streams, join_inputs.scope) for conjunct in extra]
        return _StreamJoin(join_inputs, inputs, streams, all_of(predicates) if predicates else None)

    def rows(self) -> FromResult:
        """The results of the join, and their visible columns."""
        scope, how = self.join_inputs.scope, self.join_inputs.how
        if how in _ONE_SIDED:
            scope = replace(scope, columns=(scope.columns[0], ()))
        nullable = frozenset(_NULLABLE.get(how, ()))
        return FromResult(scope, self.inputs, ResultNames(self.streams, how), self.build, nullable)

    def build(self, select: Selection | None) -> Any:
        """The join with the selected columns, or with all."""
        block, scope, arguments = self.join_inputs.block, self.join_inputs.scope, self.join_inputs.arguments
        options: dict[str, Any] = {"where": self.where, "select": select}
        with at(self._position()):
            if block.within and block.within[0].directed:
                _, steps = bound_path(block.within, scope, arguments)
                return path(*self.streams, within=steps, both_directions=block.both_directions, **options)
            within = bound_within(block.within, scope, arguments) if block.within else None
            return join(*self.streams, how=self.join_inputs.how, within=within, **options)

    def _position(self) -> SourceSpan:
        within, sources = self.join_inputs.block.within, self.join_inputs.block.sources
        return within[0].position if within else sources[0].position.to(sources[-1].position)


def _how(block: SelectBlock) -> str:
    for each in block.joined:
        if each.how != "inner" and len(block.joined) > 1:
            raise unsupported(
                "an outer, semi or anti join among more than two streams",
                each.position,
                "write the other join as a query in FROM: (SELECT … FROM … WHERE …) AS name",
            )
    first = block.joined[0]
    if first.how != "inner" and block.within and block.within[0].directed:
        instead = "write windows behind the streams, such as A [RANGE 5 MINUTES], B [NOW]"
        raise unsupported("an outer, semi or anti join by DWINDOW", first.position, instead)
    return first.how


def _on(block: SelectBlock, scope: Scope) -> list[Conjunct]:
    conjuncts = list[Conjunct]()
    for each in block.joined:
        conjuncts += conjuncts_of(each.on, scope, in_where=False)
        conjuncts += [
            conjunct
            for name in each.using
            for conjunct in conjuncts_of(_using(name, each, scope), scope, in_where=False)
        ]
    return conjuncts


def _using(name: Name, joining: JoinClause, scope: Scope) -> exp.Expr:
    """The predicate that `USING (k)` means: this stream and the first other one that has a column k have equal ones."""
    own = alias_of(joining.source)
    having = [alias for alias, names in zip(scope.aliases, scope.columns, strict=True) if match(name.text, names)]
    other = next((alias for alias in having if alias != own), None)
    if own not in having or other is None:
        where = own if own not in having else "the streams before it"
        raise SqlError(f"there is no column {name.text!r} in {where}", name.position)
    start, end = name.position.start, name.position.end - 1
    columns = [exp.column(name.text, table=alias).update_positions(start=start, end=end) for alias in (other, own)]
    return exp.EQ(this=columns[0], expression=columns[1])


def _visible_key(one: FromStream) -> tuple[str, ...]:
    """The declared key of a stream by its visible names; empty if a column of it is not visible."""
    by_own = {one.own_name(name): name for name in one.columns}
    key = one.stream.spec.key
    return tuple(by_own[name] for name in key) if all(name in by_own for name in key) else ()


def _residual(conjunct: Conjunct, inputs: Sequence[FromStream], streams: Sequence[Stream], scope: Scope) -> Expression:
    """A predicate over one row of each stream, as `where=` of the join takes it."""

    def of_stream(node: exp.Column) -> Expression:
        ref: Ref = scope.find(node)
        alias = streams[ref.side].spec.name
        return inputs[ref.side].columns[ref.name].with_columns(lambda each: Column(ref.side, each.name, alias))

    value = Translator(scope.sql, of_stream).translate(conjunct.node)
    return checked_predicate(value, [each.schema for each in streams], position_of(conjunct.node, scope.sql))


def _no_predicate(block: SelectBlock, scope: Scope, pushdown: Pushdown) -> SqlError:
    if pushdown.equalities:
        return unsupported(
            "streams that are joined by different keys in one FROM",
            block.sources[-1].position,
            "join two of them in a query in FROM, (SELECT … FROM … WHERE …) AS name, and give it a window",
        )
    names = " and ".join(scope.aliases)
    message = f"nothing joins {names}: say how in WHERE or ON, such as {scope.aliases[0]}.key = {scope.aliases[1]}.key"
    return SqlError(message, block.sources[-1].position, expected="a predicate")


def _filtered(rows: FromResult, after: Sequence[Conjunct], block: SelectBlock) -> FromResult:
    """The results of an outer join that WHERE keeps."""
    translator, results = rows.translator(), [rows.names.schema()]
    predicates = [
        checked_predicate(translator.translate(conjunct.node), results, position_of(conjunct.node, rows.scope.sql))
        for conjunct in after
    ]
    with at(position_of(after[0].node, rows.scope.sql)):
        taken: Stream = stream(rows.build(None), name="".join(rows.scope.aliases), where=all_of(predicates))
    return replace(rows, build=lambda select: by_itself(taken, select, block.source.position))
