"""The columns of a result: the key once, then the columns of each stream beside it.

With two streams, a name that both have ends in `_left` or `_right`. With more, a column has the name of its stream
before its own. The streams of a union have the same columns, and so have its results.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from punctuated.errors import ColumnError
from punctuated.model.arguments import duplicates
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType, StreamSpec

_ONE_SIDED = (JoinType.SEMI, JoinType.ANTI)


@dataclass(frozen=True)
class ResultColumns:
    """How the columns of the streams become those of the results."""

    schema: pa.Schema
    keys: tuple[tuple[str, ...], ...]  # the key columns of each stream
    payload: tuple[tuple[str, ...], ...]  # the columns of each stream that come out beside the key
    shown: tuple[tuple[str, ...], ...]  # what these are called in the results

    @staticmethod
    def of(spec: JoinSpec, schemas: Sequence[pa.Schema], key_types: Sequence[pa.DataType]) -> "ResultColumns":
        """The columns of a join of streams with these columns; raises if two would have one name."""
        payload = [payload_of(stream) for stream in spec.streams]
        if spec.how in _ONE_SIDED:
            payload[RIGHT] = []
        names = _names(spec, payload)
        known = [*spec.left.key, *(name for each in names for name in each)]
        if spec.how is JoinType.UNION:
            known = [*spec.left.key, *names[LEFT]]
        elif twice := duplicates(known):
            remedy = "rename one in its input" + (", or a stream" if spec.reaches else "")
            raise ColumnError(f"the results would have two columns {twice[0]!r}; {remedy}")
        check_selected(spec.selected, known)
        kept = [[i for i, name in enumerate(each) if _is_selected(spec, name)] for each in names]
        payload, names = (
            [[each[i] for i in ours] for each, ours in zip(of, kept, strict=True)] for of in (payload, names)
        )
        types = dict(zip(spec.left.key, key_types, strict=True))
        for schema, ours, called in zip(schemas, payload, names, strict=True):
            types |= {name: schema.field(column).type for name, column in zip(called, ours, strict=True)}
        keys = tuple(stream.key for stream in spec.streams)
        return ResultColumns(pa.schema(list(types.items())), keys, tuple(map(tuple, payload)), tuple(map(tuple, names)))


def _names(spec: JoinSpec, payload: Sequence[Sequence[str]]) -> list[list[str]]:
    """What the columns of each stream are called in the results."""
    if spec.how is JoinType.UNION:
        return [list(names) for names in payload]
    if len(payload) == 2:
        return names_of_two(spec.left.key, payload)
    return [[f"{stream.name}_{name}" for name in names] for stream, names in zip(spec.streams, payload, strict=True)]


def names_of_two(key: Sequence[str], payload: Sequence[Sequence[str]]) -> list[list[str]]:
    """What the columns of two streams are called in results: with a suffix if the key or the other one has the name.

    >>> names_of_two(["k"], [["ts", "a"], ["ts", "k"]])
    [['ts_left', 'a'], ['ts_right', 'k_right']]
    """
    return [
        [name + suffix if name in (*key, *payload[side.other]) else name for name in payload[side]]
        for side, suffix in ((LEFT, "_left"), (RIGHT, "_right"))
    ]


def _is_selected(spec: JoinSpec, name: str) -> bool:
    return spec.selected is None or name in spec.selected


def check_selected(selected: tuple[str, ...] | None, names: Sequence[str]) -> None:
    """Raise if a column is asked for that results do not have."""
    for name in selected or ():
        if name not in names:
            raise ColumnError(f"select: the results have no column {name!r}; they have: {', '.join(names)}")


def payload_of(stream: StreamSpec) -> list[str]:
    """The columns of a stream that come out beside the key."""
    hidden = (*stream.key, stream.time) if stream.is_output else stream.key
    return [name for name in stream.columns if name not in hidden]
