"""The columns of a result: the key once, then the left columns, then the right columns; equal names get a suffix."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from punctuated.errors import ColumnError
from punctuated.model.arguments import duplicates
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType, Side, StreamSpec

_ONE_SIDED = (JoinType.SEMI, JoinType.ANTI)


@dataclass(frozen=True)
class ResultColumns:
    """How the columns of both inputs become the columns of the results."""

    schema: pa.Schema
    payload: tuple[list[str], list[str]]  # non-key input columns that come out, per side
    keys: tuple[list[str], list[str]]
    n_key: int

    @staticmethod
    def of(spec: JoinSpec, schemas: tuple[pa.Schema, ...], key_types: tuple[pa.DataType, ...]) -> "ResultColumns":
        keys = list(spec.left.key), list(spec.right.key)
        payload = (
            payload_of(spec.left),
            payload_of(spec.right) if spec.how not in _ONE_SIDED else [],
        )
        fields = [pa.field(name, dtype) for name, dtype in zip(keys[LEFT], key_types, strict=True)]
        shown = names_of_two(spec.left.key, payload)
        names = [*keys[LEFT], *shown[LEFT], *shown[RIGHT]]
        if twice := duplicates(names):
            raise ColumnError(f"the results would have two columns {twice[0]!r}; rename one in its input")
        check_selected(spec.selected, names)
        for side in Side:
            chosen = [i for i, name in enumerate(shown[side]) if spec.selected is None or name in spec.selected]
            payload[side][:] = [payload[side][i] for i in chosen]
            fields += [
                pa.field(shown[side][i], schemas[side].field(payload[side][at]).type) for at, i in enumerate(chosen)
            ]
        return ResultColumns(pa.schema(fields), payload, keys, len(key_types))

    def shown(self, side: int) -> list[str]:
        """Names in the result of a side's payload columns."""
        names: list[str] = self.schema.names
        start = self.n_key + (len(self.payload[LEFT]) if side == RIGHT else 0)
        return names[start : start + len(self.payload[side])]


def names_of_two(key: Sequence[str], payload: Sequence[Sequence[str]]) -> list[list[str]]:
    """What the columns of two streams are called in results: with a suffix if the key or the other one has the name.

    >>> names_of_two(["k"], [["ts", "a"], ["ts", "k"]])
    [['ts_left', 'a'], ['ts_right', 'k_right']]
    """
    return [
        [name + suffix if name in (*key, *payload[side.other]) else name for name in payload[side]]
        for side, suffix in ((LEFT, "_left"), (RIGHT, "_right"))
    ]


def check_selected(selected: tuple[str, ...] | None, names: list[str]) -> None:
    """Raise if a column is asked for that results do not have."""
    for name in selected or ():
        if name not in names:
            raise ColumnError(f"select: the results have no column {name!r}; they have: {', '.join(names)}")


def payload_of(stream: StreamSpec) -> list[str]:
    """The columns of a stream that come out beside the key."""
    hidden = (*stream.key, stream.time) if stream.is_output else stream.key
    return [name for name in stream.columns if name not in hidden]
