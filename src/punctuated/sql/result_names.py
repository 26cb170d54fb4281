"""How the columns of joined streams are called in the results, by the rule of `pt.join`."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from punctuated.api.stream import Stream
from punctuated.join.output.columns import payload_of

_ONE_SIDED = ("semi", "anti")


@dataclass(frozen=True)
class ResultNames:
    """Names in the results, by stream and column; `names` has them in order, the key first."""

    streams: tuple[Stream, ...]
    how: str

    def of(self, side: int, column: str) -> str:
        """What a column of a stream is called."""
        spec = self.streams[side].spec
        if column in spec.key:
            return self.streams[0].spec.key[spec.key.index(column)]
        if len(self.streams) > 2:
            return f"{spec.name}_{column}"
        if len(self.streams) == 1 or column not in self._taken(side):
            return column
        return f"{column}_{('left', 'right')[side]}"

    def columns(self) -> list[tuple[int, str]]:
        """All columns that results have: the key once, then those of each stream."""
        key = [(0, name) for name in self.streams[0].spec.key]
        return key + [(side, name) for side in range(len(self.streams)) for name in self._payload(side)]

    def schema(self) -> pa.Schema:
        """The types of the results."""
        return pa.schema(
            [(self.of(*each), self.streams[each[0]].schema.field(each[1]).type) for each in self.columns()]
        )

    def _payload(self, side: int) -> Sequence[str]:
        return [] if side == 1 and self.how in _ONE_SIDED else payload_of(self.streams[side].spec)

    def _taken(self, side: int) -> set[str]:
        return {*self.streams[0].spec.key, *self._payload(1 - side)}
