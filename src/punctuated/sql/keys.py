"""The join key: columns of all streams that equalities tie together."""

from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.sql.resolve import Ref


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
    tied = [group for group in _tied(pairs) if {ref.place for ref in group} == set(sides)]
    chosen = [[_of_stream(group, side, declared[side]) for group in tied] for side in sides]
    order = _declared_order(chosen, declared)
    return JoinKey(tuple(tuple(names[i] for i in order) for names in chosen))


def _tied(pairs: Sequence[tuple[Ref, Ref]]) -> list[list[Ref]]:
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
