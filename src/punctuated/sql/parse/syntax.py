"""What a query says, as plain data: statements, blocks of a SELECT, streams, windows.

Nothing is looked up yet: a name is a text with its position. Expressions are sqlglot's.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from punctuated.sql.parse.errors import SourceSpan


@dataclass(frozen=True)
class Name:
    """A name as it was written; one in quotes is taken letter by letter."""

    text: str
    position: SourceSpan = field(repr=False)
    quoted: bool = False
    stream: str | None = None  # before the dot, if the name is that of a column


def match(name: str, known: Collection[str], *, quoted: bool = False) -> str | None:
    """The known name that `name` means; case matters only in quotes, or where it makes a difference.

    >>> match("ItemNum", ["itemnum", "price"]), match("itemnum", ["ItemNum", "ITEMNUM"])
    ('itemnum', None)
    """
    if name in known:
        return name
    alike: Sequence[str] = [each for each in known if each.lower() == name.lower()]
    return alike[0] if len(alike) == 1 and not quoted else None


# Windows


@dataclass(frozen=True)
class Length:
    """A length of time: text such as "12 hours", a number of microseconds, or the name of an argument of `pt.sql`."""

    value: str | int
    position: SourceSpan = field(repr=False)
    is_name: bool = False


@dataclass(frozen=True)
class WindowClause:
    """A window in brackets behind a stream: "range", "between", "rows", "now", "unbounded" or "until"."""

    kind: str
    position: SourceSpan = field(repr=False)
    lengths: tuple[Length, ...] = ()
    n: int | None = None
    columns: tuple[Name, ...] = ()


@dataclass(frozen=True)
class WithinClause:
    """`WINDOW … = w` or `DWINDOW … = w`: how far apart two streams may be, or all of them (WJ-04…WJ-07)."""

    length: Length
    position: SourceSpan = field(repr=False)
    streams: tuple[Name, ...] = ()
    directed: bool = False


# SELECT


@dataclass(frozen=True)
class SelectItem:
    """One item of the SELECT list."""

    value: exp.Expr
    alias: Name | None
    position: SourceSpan = field(repr=False)


@dataclass(frozen=True)
class FromItem:
    """One stream in FROM: a name or a query, its alias and its window."""

    what: "Name | Select"
    alias: Name | None
    window: WindowClause | None
    position: SourceSpan = field(repr=False)


@dataclass(frozen=True)
class JoinClause:
    """How a stream in FROM is joined to those before it; a comma is an inner join by WHERE."""

    how: str
    source: FromItem
    position: SourceSpan = field(repr=False)
    on: exp.Expr | None = None
    using: tuple[Name, ...] = ()


@dataclass(frozen=True)
class SelectBlock:
    """One SELECT … FROM … WHERE … GROUP BY … HAVING."""

    items: tuple[SelectItem, ...]
    source: FromItem
    joined: tuple[JoinClause, ...]
    position: SourceSpan = field(repr=False)
    distinct: bool = False
    within: tuple[WithinClause, ...] = ()
    both_directions: bool = False
    where: exp.Expr | None = None
    group_by: tuple[exp.Expr, ...] = ()
    having: exp.Expr | None = None

    @property
    def sources(self) -> tuple[FromItem, ...]:
        """All streams in FROM, in their order."""
        return (self.source, *(each.source for each in self.joined))


@dataclass(frozen=True)
class Select:
    """A query: blocks between which UNION ALL stands, and queries that WITH names before them."""

    blocks: tuple[SelectBlock, ...]
    position: SourceSpan = field(repr=False)
    named: tuple[tuple[Name, "Select"], ...] = ()


# Other statements


@dataclass(frozen=True)
class PunctuatedBy:
    """`PUNCTUATED BY`: "unique", "clustered", "when", "patterns" or "endings", and its expression or name."""

    kind: str
    argument: str | None
    position: SourceSpan = field(repr=False)


@dataclass(frozen=True)
class CreateStream:
    """CREATE STREAM: the name of a stream, its declaration, and where its rows come from."""

    name: str
    columns: tuple[tuple[str, str], ...]
    time: str | None
    key: tuple[str, ...]
    punctuated: tuple[PunctuatedBy, ...]
    lateness: str | None
    window: WindowClause | None
    source: str
    options: Mapping[str, str]
    position: SourceSpan = field(repr=False)
    # Of the columns by their names, of "name" and "source", and of TIME, KEY, LATENESS and WINDOW.
    positions: Mapping[str, SourceSpan] = field(repr=False, default_factory=dict)


@dataclass(frozen=True)
class Insert:
    """INSERT INTO: a query and the sink of its results."""

    sink: str
    options: Mapping[str, str]
    query: Select
    position: SourceSpan = field(repr=False)


@dataclass(frozen=True)
class Explain:
    """EXPLAIN: the plan of a query instead of its results."""

    query: Select
    position: SourceSpan = field(repr=False)


Statement = CreateStream | Insert | Explain | Select
