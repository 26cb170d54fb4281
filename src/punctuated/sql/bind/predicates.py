"""Predicates of WHERE and ON, split at AND: equalities become the join key, others are pushed down.

How far a conjunct may go depends on the join. ON must not filter a stream whose rows an outer join preserves; WHERE
must not filter, before the join, a stream that the join fills with nulls.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from punctuated.errors import PunctuatedError
from punctuated.expressions.evaluate import result_type
from punctuated.expressions.nodes import Expression, over
from punctuated.keys.types import common_key_type
from punctuated.model.arguments import free_names
from punctuated.sql.bind.expressions import Translator
from punctuated.sql.bind.inputs import FromStream, plain_column
from punctuated.sql.bind.names import Ref, Scope

_FILTERED_BY_ON = {"inner": (0, 1), "left": (1,), "right": (0,), "full": (), "semi": (0, 1), "anti": (1,)}
_FILTERED_BY_WHERE = {"inner": (0, 1), "left": (0,), "right": (1,), "full": (), "semi": (0,), "anti": (0,)}


# Conjuncts


@dataclass(frozen=True)
class Conjunct:
    """One of the predicates that AND combines."""

    node: exp.Expr
    refs: frozenset[Ref]
    in_where: bool
    pair: tuple[Ref, Ref] | None = None  # both columns, if it says that two columns are equal

    @property
    def sides(self) -> frozenset[int]:
        """The streams whose columns it reads."""
        return frozenset(ref.side for ref in self.refs)

    @property
    def equal(self) -> tuple[Ref, Ref] | None:
        """Both columns, if it says that columns of two streams are equal."""
        return self.pair if self.pair is not None and self.pair[0].side != self.pair[1].side else None


@dataclass
class Pushdown:
    """Conjuncts by where they are evaluated."""

    equalities: list[tuple[Conjunct, tuple[Ref, Ref]]] = field(default_factory=list)
    filters: dict[int, list[Conjunct]] = field(default_factory=dict)  # before the join, by stream
    residual: list[Conjunct] = field(default_factory=list)  # in the join, beside its key
    after: list[Conjunct] = field(default_factory=list)  # on the results of the join


def conjuncts_of(node: exp.Expr | None, scope: Scope, *, in_where: bool) -> list[Conjunct]:
    """The conjuncts of a predicate; none if there is no predicate."""
    return [] if node is None else [_conjunct(each, scope, in_where) for each in _split(node)]


def push_down(conjuncts: Sequence[Conjunct], how: str) -> Pushdown:
    """The conjuncts by where a join of the kind `how` evaluates them."""
    pushdown = Pushdown()
    for conjunct in conjuncts:
        _push(conjunct, how, pushdown)
    return pushdown


def _push(conjunct: Conjunct, how: str, pushdown: Pushdown) -> None:
    filtered = (_FILTERED_BY_WHERE if conjunct.in_where else _FILTERED_BY_ON)[how]
    only = next(iter(conjunct.sides)) if len(conjunct.sides) == 1 else None
    if only is not None and (how == "inner" or only in filtered):
        pushdown.filters.setdefault(only, []).append(conjunct)
    elif conjunct.in_where and how != "inner":
        pushdown.after.append(conjunct)
    elif conjunct.equal is not None:
        pushdown.equalities.append((conjunct, conjunct.equal))
    else:
        pushdown.residual.append(conjunct)


def _conjunct(node: exp.Expr, scope: Scope, in_where: bool) -> Conjunct:
    refs = frozenset(scope.find(column) for column in node.find_all(exp.Column) if not column.is_star)
    sides = (node.this, node.expression) if isinstance(node, exp.EQ) else ()
    bare = [_bare(side) for side in sides]
    if len(bare) == 2 and all(isinstance(side, exp.Column) and not side.is_star for side in bare):
        first, second = (scope.find(side) for side in bare if isinstance(side, exp.Column))
        return Conjunct(node, refs, in_where, (first, second))
    return Conjunct(node, refs, in_where)


def _split(node: exp.Expr) -> Iterator[exp.Expr]:
    inner = _bare(node)
    if isinstance(inner, exp.And):
        yield from _split(inner.this)
        yield from _split(inner.expression)
    else:
        yield inner


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


# Computed keys: both sides of `A.item % 10 = B.slot` become columns of their streams, to join by


def compute_keys(
    conjuncts: Sequence[Conjunct], inputs: Sequence[FromStream], scope: Scope
) -> tuple[list[Conjunct], list[FromStream]]:
    """The conjuncts with equalities of columns in place of expressions, and the streams with these columns."""
    found, having = list[Conjunct](), list(inputs)
    for conjunct in conjuncts:
        sides = _sides(conjunct, scope)
        if sides is None or not _can_be_keys(sides, having, scope):
            found.append(conjunct)
            continue
        first, second = (_key_column(side, node, having, scope) for side, node in sides)
        found.append(replace(conjunct, pair=(first, second)))
    return found, having


def _sides(conjunct: Conjunct, scope: Scope) -> list[tuple[int, exp.Expr]] | None:
    """Both sides of an equality with the streams they read; None unless each reads one stream, and not the same."""
    if not isinstance(conjunct.node, exp.EQ) or conjunct.equal is not None:
        return None
    both = (conjunct.node.this, conjunct.node.expression)
    streams = [{scope.find(column).side for column in side.find_all(exp.Column)} for side in both]
    if any(len(each) != 1 for each in streams) or streams[0] == streams[1]:
        return None
    return [(next(iter(each)), side) for each, side in zip(streams, both, strict=True)]


def _can_be_keys(sides: Sequence[tuple[int, exp.Expr]], inputs: Sequence[FromStream], scope: Scope) -> bool:
    """Whether values of both sides can be compared as keys; if not, the equality is a predicate like any other."""
    types = list[pa.DataType]()
    try:
        for side, node in sides:
            types.append(result_type(_value(inputs[side], node, scope), inputs[side].stream.schema))
        common_key_type("key", *types)
    except PunctuatedError:
        return False
    return True


def _key_column(side: int, node: exp.Expr, inputs: list[FromStream], scope: Scope) -> Ref:
    """The column with the values of one side; a computed one is added to its stream in `inputs`."""
    if isinstance(node, exp.Column):
        return scope.find(node)
    one = inputs[side]
    name = free_names(["key"], list(one.columns))[0]
    inputs[side] = replace(one, columns={**one.columns, name: _value(one, node, scope)})
    return Ref(side, name)


def _value(one: FromStream, node: exp.Expr, scope: Scope) -> Expression:
    return over(
        Translator(scope.sql, lambda column: plain_column(scope.find(column).name)).translate(node), one.columns
    )


# The join key: columns of all streams that equalities make equal


@dataclass(frozen=True)
class JoinKey:
    """The key columns of each stream; those with the same index are equal in every result."""

    columns: tuple[tuple[str, ...], ...]

    @property
    def groups(self) -> tuple[frozenset[Ref], ...]:
        """The sets of columns that are equal in every result."""
        return tuple(
            frozenset(Ref(side, name) for side, name in enumerate(names)) for names in zip(*self.columns, strict=True)
        )

    def holds(self, pair: tuple[Ref, Ref]) -> bool:
        """Whether the key already makes these two columns equal."""
        return any(group.issuperset(pair) for group in self.groups)


def join_key(pairs: Sequence[tuple[Ref, Ref]], declared: Sequence[tuple[str, ...]]) -> JoinKey:
    """The join key that follows from pairs of equal columns; `declared` has the key of each stream.

    A set of equal columns is part of the key if it has a column of every stream. If it has several of one stream, the
    one in the declared key is taken, or else the first. The order of the key is that of the first declared key that has
    the same columns.

    >>> join_key([(Ref(0, "a"), Ref(1, "b"))], [("a",), ()]).columns
    (('a',), ('b',))
    """
    sides = range(len(declared))
    equal = [group for group in _equal_columns(pairs) if {ref.side for ref in group} == set(sides)]
    chosen = [[_of_stream(group, side, declared[side]) for group in equal] for side in sides]
    order = _declared_order(chosen, declared)
    return JoinKey(tuple(tuple(names[i] for i in order) for names in chosen))


def _equal_columns(pairs: Sequence[tuple[Ref, Ref]]) -> list[list[Ref]]:
    groups = list[list[Ref]]()
    for pair in pairs:
        touched = [group for group in groups if any(ref in group for ref in pair)]
        merged = [ref for group in touched for ref in group]
        merged += [ref for ref in pair if ref not in merged]
        groups = [group for group in groups if group not in touched] + [merged]
    return groups


def _of_stream(group: list[Ref], side: int, declared: tuple[str, ...]) -> str:
    names = [ref.name for ref in group if ref.side == side]
    return next((name for name in names if name in declared), names[0])


def _declared_order(chosen: list[list[str]], declared: Sequence[tuple[str, ...]]) -> list[int]:
    for names, own in zip(chosen, declared, strict=True):
        if set(names) == set(own) and len(names) == len(own):
            return [names.index(name) for name in own]
    return list(range(len(chosen[0])))
