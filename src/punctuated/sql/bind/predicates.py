"""Predicates of WHERE and ON, taken apart: what joins, what filters one stream, and what is left.

Where a part may go depends on the join. A row that an outer join preserves must not be lost by a filter in ON; one that
it fills with nulls must not be filtered before the join by WHERE.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from punctuated.errors import PunctuatedError
from punctuated.expressions.evaluate import result_type
from punctuated.keys.codec import common_key_type
from punctuated.model.arguments import free_names
from punctuated.model.expression import Expression, over
from punctuated.sql.bind.expressions import Translator
from punctuated.sql.bind.inputs import FromStream, plain_column
from punctuated.sql.bind.names import Ref, Scope

_FILTERED_BY_ON = {"inner": (0, 1), "left": (1,), "right": (0,), "full": (), "semi": (0, 1), "anti": (1,)}
_FILTERED_BY_WHERE = {"inner": (0, 1), "left": (0,), "right": (1,), "full": (), "semi": (0,), "anti": (0,)}


@dataclass(frozen=True)
class Conjunct:
    """One of the predicates between which AND stands."""

    node: exp.Expr
    refs: frozenset[Ref]
    in_where: bool
    pair: tuple[Ref, Ref] | None = None  # columns that it says to be equal

    @property
    def sides(self) -> frozenset[int]:
        """The streams that it speaks of."""
        return frozenset(ref.place for ref in self.refs)

    @property
    def equal(self) -> tuple[Ref, Ref] | None:
        """The columns of two streams that it says to be equal."""
        return self.pair if self.pair is not None and self.pair[0].place != self.pair[1].place else None


@dataclass
class Pushdown:
    """Where the parts of the predicates go."""

    equalities: list[tuple[Conjunct, tuple[Ref, Ref]]] = field(default_factory=list)
    filters: dict[int, list[Conjunct]] = field(default_factory=dict)  # below the join, by stream
    extra: list[Conjunct] = field(default_factory=list)  # inside of it
    after: list[Conjunct] = field(default_factory=list)  # above it


def conjuncts_of(node: exp.Expr | None, scope: Scope, *, in_where: bool) -> list[Conjunct]:
    """The parts of a predicate."""
    return [] if node is None else [_part(each, scope, in_where) for each in _conjuncts(node)]


def push_down(parts: Sequence[Conjunct], how: str) -> Pushdown:
    """Where each part goes in a join of this kind."""
    placed = Pushdown()
    for part in parts:
        _place(part, how, placed)
    return placed


def _place(part: Conjunct, how: str, placed: Pushdown) -> None:
    filtered = (_FILTERED_BY_WHERE if part.in_where else _FILTERED_BY_ON)[how]
    only = next(iter(part.sides)) if len(part.sides) == 1 else None
    if only is not None and (how == "inner" or only in filtered):
        placed.filters.setdefault(only, []).append(part)
    elif part.in_where and how != "inner":
        placed.after.append(part)
    elif part.equal is not None:
        placed.equalities.append((part, part.equal))
    else:
        placed.extra.append(part)


def _part(node: exp.Expr, scope: Scope, in_where: bool) -> Conjunct:
    refs = frozenset(scope.find(column) for column in node.find_all(exp.Column) if not column.is_star)
    sides = (node.this, node.expression) if isinstance(node, exp.EQ) else ()
    bare = [_bare(side) for side in sides]
    if len(bare) == 2 and all(isinstance(side, exp.Column) and not side.is_star for side in bare):
        first, second = (scope.find(side) for side in bare if isinstance(side, exp.Column))
        return Conjunct(node, refs, in_where, (first, second))
    return Conjunct(node, refs, in_where)


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    inner = _bare(node)
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.this)
        yield from _conjuncts(inner.expression)
    else:
        yield inner


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


# Equalities of expressions, such as `A.item % 10 = B.slot`: each side becomes a column of its stream, to join by.


def compute_keys(
    parts: Sequence[Conjunct], inputs: Sequence[FromStream], scope: Scope
) -> tuple[list[Conjunct], list[FromStream]]:
    """The parts of a predicate, their equalities now of columns, and the streams with these columns."""
    found, having = list[Conjunct](), list(inputs)
    for part in parts:
        sides = _sides(part, scope)
        if sides is None or not _can_be_keys(sides, having, scope):
            found.append(part)
            continue
        first, second = (_tied(place, node, having, scope) for place, node in sides)
        found.append(replace(part, pair=(first, second)))
    return found, having


def _sides(part: Conjunct, scope: Scope) -> list[tuple[int, exp.Expr]] | None:
    """Both sides of an equality, each of one stream, and of which."""
    if not isinstance(part.node, exp.EQ) or part.equal is not None:
        return None
    both = (part.node.this, part.node.expression)
    places = [{scope.find(column).place for column in side.find_all(exp.Column)} for side in both]
    if any(len(each) != 1 for each in places) or places[0] == places[1]:
        return None
    return [(next(iter(each)), side) for each, side in zip(places, both, strict=True)]


def _can_be_keys(sides: Sequence[tuple[int, exp.Expr]], inputs: Sequence[FromStream], scope: Scope) -> bool:
    """Whether values of both types can be compared as keys; if not, they are as any other predicate."""
    types = list[pa.DataType]()
    try:
        for place, node in sides:
            types.append(result_type(_value(inputs[place], node, scope), inputs[place].stream.schema))
        common_key_type("key", *types)
    except PunctuatedError:
        return False
    return True


def _tied(place: int, node: exp.Expr, inputs: list[FromStream], scope: Scope) -> Ref:
    """The column with the values of one side; a new one if it is computed."""
    if isinstance(node, exp.Column):
        return scope.find(node)
    one = inputs[place]
    name = free_names(["key"], list(one.columns))[0]
    inputs[place] = replace(one, columns={**one.columns, name: _value(one, node, scope)})
    return Ref(place, name)


def _value(one: FromStream, node: exp.Expr, scope: Scope) -> Expression:
    return over(
        Translator(scope.sql, lambda column: plain_column(scope.find(column).name)).translate(node), one.columns
    )


# The join key: columns of all streams that equalities tie together.


@dataclass(frozen=True)
class JoinKey:
    """For each stream its key columns, in the same order."""

    columns: tuple[tuple[str, ...], ...]

    @property
    def groups(self) -> tuple[frozenset[Ref], ...]:
        """Columns that are equal in every result."""
        return tuple(
            frozenset(Ref(side, name) for side, name in enumerate(names)) for names in zip(*self.columns, strict=True)
        )

    def holds(self, pair: tuple[Ref, Ref]) -> bool:
        """Whether the key says already that these are equal."""
        return any(group.issuperset(pair) for group in self.groups)


def join_key(pairs: Sequence[tuple[Ref, Ref]], declared: Sequence[tuple[str, ...]]) -> JoinKey:
    """The key that these equalities make of streams with these keys of their own.

    A set of equal columns counts if every stream has one in it. Of several columns of one stream the declared key's is
    taken, else the first. The order is that of the first declared key which consists of the same columns.

    >>> join_key([(Ref(0, "a"), Ref(1, "b"))], [("a",), ()]).columns
    (('a',), ('b',))
    """
    sides = range(len(declared))
    tied = [group for group in _tied_columns(pairs) if {ref.place for ref in group} == set(sides)]
    chosen = [[_of_stream(group, side, declared[side]) for group in tied] for side in sides]
    order = _declared_order(chosen, declared)
    return JoinKey(tuple(tuple(names[i] for i in order) for names in chosen))


def _tied_columns(pairs: Sequence[tuple[Ref, Ref]]) -> list[list[Ref]]:
    groups = list[list[Ref]]()
    for pair in pairs:
        touched = [group for group in groups if any(ref in group for ref in pair)]
        merged = [ref for group in touched for ref in group]
        merged += [ref for ref in pair if ref not in merged]
        groups = [group for group in groups if group not in touched] + [merged]
    return groups


def _of_stream(group: list[Ref], side: int, declared: tuple[str, ...]) -> str:
    names = [ref.name for ref in group if ref.place == side]
    return next((name for name in names if name in declared), names[0])


def _declared_order(chosen: list[list[str]], declared: Sequence[tuple[str, ...]]) -> list[int]:
    for names, own in zip(chosen, declared, strict=True):
        if set(names) == set(own) and len(names) == len(own):
            return [names.index(name) for name in own]
    return list(range(len(chosen[0])))
