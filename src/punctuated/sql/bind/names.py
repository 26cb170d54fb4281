"""Names: which column of which stream in FROM a name in the query means."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from punctuated.bind.streams import Stream
from punctuated.output.columns import payload_of
from punctuated.sql.parse.dialect import place_of
from punctuated.sql.parse.errors import Place, SqlError, unknown, unsupported

_ONE_SIDED = ("semi", "anti")


@dataclass(frozen=True)
class Ref:
    """A column of the stream at a place in FROM."""

    place: int
    name: str


@dataclass(frozen=True)
class Scope:
    """The streams of a FROM: their aliases and the columns that can be seen of each."""

    sql: str = field(repr=False)
    aliases: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    equal: tuple[frozenset[Ref], ...] = ()  # columns of the join key: any of them may be meant by a plain name

    def find(self, node: exp.Column) -> Ref:
        """The column that is meant."""
        place = place_of(node, self.sql)
        self._refuse_fields(node, place)
        if len(node.parts) > 2:
            raise unsupported("a name with two dots", place, "write stream.column")
        if node.table:
            side = self.stream(node.table, place, quoted=bool(node.args["table"].quoted))
            return self._of_stream(side, node, place)
        return self._of_any(node, place)

    def _refuse_fields(self, node: exp.Column, place: Place) -> None:
        """`struct.field` looks like `stream.column`."""
        *owners, name = [each.name for each in node.parts]
        of_stream = owners[:1] if len(owners) == 2 and match(owners[0], self.aliases) is not None else []
        is_stream = len(owners) == 1 and match(owners[0], self.aliases) is not None
        column = owners[len(of_stream) :]
        if len(column) == 1 and not is_stream and any(match(column[0], names) for names in self.columns):
            raise unsupported("a field behind a dot", place, f"write FIELD({'.'.join(owners)}, '{name}')")

    def stream(self, alias: str, place: Place, *, quoted: bool = False) -> int:
        """The place in FROM of a stream."""
        found = match(alias, self.aliases, quoted=quoted)
        if found is None:
            raise unknown("stream", alias, self.aliases, place, "FROM")
        return self.aliases.index(found)

    def refs(self, side: int) -> list[Ref]:
        """All columns of one stream."""
        return [Ref(side, name) for name in self.columns[side]]

    def _of_stream(self, side: int, node: exp.Column, place: Place) -> Ref:
        name = match(node.name, self.columns[side], quoted=is_quoted(node))
        if name is None:
            raise unknown("column", node.name, self.columns[side], place, self.aliases[side])
        return Ref(side, name)

    def _of_any(self, node: exp.Column, place: Place) -> Ref:
        found = [
            Ref(side, name)
            for side, names in enumerate(self.columns)
            if (name := match(node.name, names, quoted=is_quoted(node))) is not None
        ]
        if not found:
            raise unknown("column", node.name, [name for names in self.columns for name in names], place)
        if len(found) > 1 and not any(group.issuperset(found) for group in self.equal):
            where = " and ".join(self.aliases[ref.place] for ref in found)
            message = f"column {node.name!r} is in {where}: write {self.aliases[found[0].place]}.{node.name}"
            raise SqlError(message, place)
        return found[0]


def is_quoted(node: exp.Column) -> bool:
    """Whether a column's name was written in quotes."""
    return bool(node.this.args.get("quoted"))


def match(name: str, known: Collection[str], *, quoted: bool = False) -> str | None:
    """The known name that is meant; case matters only in quotes, or where it makes a difference.

    >>> match("ItemNum", ["itemnum", "price"]), match("itemnum", ["ItemNum", "ITEMNUM"])
    ('itemnum', None)
    """
    if name in known:
        return name
    alike: Sequence[str] = [each for each in known if each.lower() == name.lower()]
    return alike[0] if len(alike) == 1 and not quoted else None


# How the columns of joined streams are called in the results, by the rule of `pt.join`.


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
