"""Predicates of WHERE and ON, taken apart: what joins, what filters one stream, and what is left.

Where a part may go depends on the join. A row that an outer join preserves must not be lost by a filter in ON; one that
it fills with nulls must not be filtered before the join by WHERE.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from punctuated.sql.resolve import Ref, Scope

_FILTERED_BY_ON = {"inner": (0, 1), "left": (1,), "right": (0,), "full": (), "semi": (0, 1), "anti": (1,)}
_FILTERED_BY_WHERE = {"inner": (0, 1), "left": (0,), "right": (1,), "full": (), "semi": (0,), "anti": (0,)}


@dataclass(frozen=True)
class Part:
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
class Placed:
    """Where the parts of the predicates go."""

    equalities: list[tuple[Part, tuple[Ref, Ref]]] = field(default_factory=list)
    filters: dict[int, list[Part]] = field(default_factory=dict)  # below the join, by stream
    extra: list[Part] = field(default_factory=list)  # inside of it
    after: list[Part] = field(default_factory=list)  # above it


def parts_of(node: exp.Expr | None, scope: Scope, *, in_where: bool) -> list[Part]:
    """The parts of a predicate."""
    return [] if node is None else [_part(each, scope, in_where) for each in _conjuncts(node)]


def place_parts(parts: Sequence[Part], how: str) -> Placed:
    """Where each part goes in a join of this kind."""
    placed = Placed()
    for part in parts:
        _place(part, how, placed)
    return placed


def _place(part: Part, how: str, placed: Placed) -> None:
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


def _part(node: exp.Expr, scope: Scope, in_where: bool) -> Part:
    refs = frozenset(scope.find(column) for column in node.find_all(exp.Column) if not column.is_star)
    sides = (node.this, node.expression) if isinstance(node, exp.EQ) else ()
    bare = [_bare(side) for side in sides]
    if len(bare) == 2 and all(isinstance(side, exp.Column) and not side.is_star for side in bare):
        first, second = (scope.find(side) for side in bare if isinstance(side, exp.Column))
        return Part(node, refs, in_where, (first, second))
    return Part(node, refs, in_where)


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
