"""Reads a SELECT clause by clause: WITH, list, FROM, WINDOW and DWINDOW, WHERE, GROUP BY, HAVING, UNION ALL.

SQL that the language lacks is refused at its position, with what to write instead.
"""

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, unsupported
from punctuated.sql.parse.syntax import FromItem, JoinClause, Name, Select, SelectBlock, SelectItem, WindowClause
from punctuated.sql.parse.windows import WindowParser

_UNSUPPORTED = {  # by the word that begins a clause: its name, and what to write instead
    "ORDER": ("ORDER BY", "results come in order of time; sort the table that you get"),
    "ORDER BY": ("ORDER BY", "results come in order of time; sort the table that you get"),
    "LIMIT": ("LIMIT", "cut the table that you get"),
    "OFFSET": ("OFFSET", "cut the table that you get"),
    "FETCH": ("FETCH", "cut the table that you get"),
    "QUALIFY": ("QUALIFY", "group in a query in FROM and filter outside"),
    "INTERSECT": ("INTERSECT", "write a LEFT SEMI JOIN"),
    "EXCEPT": ("EXCEPT", "write a LEFT ANTI JOIN"),
    "MINUS": ("MINUS", "write a LEFT ANTI JOIN"),
    "LATERAL": ("LATERAL", "write a query in FROM"),
    "CROSS": ("CROSS JOIN", "streams are joined by a key or a predicate: write JOIN … ON …"),
    "NATURAL": ("NATURAL JOIN", "name the columns: JOIN … USING (…)"),
    "PIVOT": ("PIVOT", "write CASE inside of aggregates"),
}
_JOIN_KINDS = {
    (): "inner",
    ("INNER",): "inner",
    ("LEFT",): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT",): "right",
    ("RIGHT", "OUTER"): "right",
    ("FULL",): "full",
    ("FULL", "OUTER"): "full",
    ("SEMI",): "semi",
    ("LEFT", "SEMI"): "semi",
    ("ANTI",): "anti",
    ("LEFT", "ANTI"): "anti",
}
_JOIN_WORDS = {"INNER", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI"}

Element = TypeVar("Element")


class SelectParser(WindowParser):
    """Reads a query."""

    def select(self) -> Select:
        """Read a query: WITH, then blocks with UNION ALL between them."""
        start = self.position()
        named = tuple(self._listed(self._named_query)) if self._with() else ()
        blocks = list(self._operand())
        while self.is_word("UNION"):
            self._union_all()
            blocks += self._operand()
        return Select(tuple(blocks), start.to(self.last_position()), named)

    def _with(self) -> bool:
        if not self.take("WITH"):
            return False
        if self.is_word("RECURSIVE"):
            raise unsupported("WITH RECURSIVE", self.position(), "a query over streams cannot read its own results")
        return True

    def _named_query(self) -> tuple[Name, Select]:
        name = self.name("a name for a query")
        self.need("AS")
        return name, self._in_parentheses()

    def _in_parentheses(self) -> Select:
        self.need("(")
        query = self.select()
        self.need(")")
        return query

    def _union_all(self) -> None:
        start = self.position()
        self.take("UNION")
        if self.is_word("DISTINCT"):
            raise unsupported(
                "UNION DISTINCT", start.to(self.position()), "write SELECT DISTINCT over a UNION ALL in FROM"
            )
        if not self.take("ALL"):
            raise unsupported("UNION", start, "write UNION ALL, or SELECT DISTINCT over a UNION ALL in FROM")

    def _operand(self) -> tuple[SelectBlock, ...]:
        if not self.is_word("("):
            return (self._block(),)
        start = self.position()
        query = self._in_parentheses()
        if query.named:
            raise unsupported("WITH inside of parentheses", start, "write it before the first SELECT")
        return query.blocks

    def _block(self) -> SelectBlock:
        start = self.position()
        self.need("SELECT")
        distinct = self._distinct()
        items = tuple(self._listed(self._item))
        self.need("FROM")
        source, joined = self._from()
        within, both_directions = self.within_clauses()
        block = SelectBlock(
            items,
            source,
            joined,
            start,
            distinct,
            within,
            both_directions,
            where=self.value("a predicate") if self.take("WHERE") else None,
            group_by=self._group_by(),
            having=self.value("a predicate") if self.take("HAVING") else None,
        )
        self._refuse_other_clauses()
        return block

    def _distinct(self) -> bool:
        found = not self.take("ALL") and self.take("DISTINCT")
        if found and self.is_word("ON"):
            raise unsupported("DISTINCT ON", self.position(), "group by these columns and take FIRST(…) of the others")
        return found

    def _item(self) -> SelectItem:
        value = self.value("a column or an expression")
        position = position_of(value, self.sql)
        has_as = self.take("AS")
        alias = self.name("an alias") if has_as or self.is_name() else None
        return SelectItem(value, alias, position)

    def _group_by(self) -> tuple[exp.Expr, ...]:
        if self.is_word("GROUP"):
            self.take("GROUP")
            raise self.unexpected("BY")
        if not self.take("GROUP BY"):
            return ()
        for word in ("ALL", "ROLLUP", "CUBE", "GROUPING SETS"):
            if self.is_word(word):
                raise unsupported(f"GROUP BY {word}", self.position(), "name the columns")
        listed = self._listed(lambda: self.value("a column"))
        return tuple(each for node in listed for each in (node.expressions if isinstance(node, exp.Tuple) else [node]))

    def _refuse_other_clauses(self) -> None:
        for word, (clause, instead) in _UNSUPPORTED.items():
            if self.is_word(word):
                raise unsupported(clause, self.position(), instead)

    # FROM

    def _from(self) -> tuple[FromItem, tuple[JoinClause, ...]]:
        source, joined = self._source(), list[JoinClause]()
        while True:
            self._refuse_other_clauses()
            position = self.position()
            if self.take(","):
                joined.append(JoinClause("inner", self._source(), position))
            elif self._is_join():
                joined.append(self._joining(position))
            else:
                return source, tuple(joined)

    def _is_join(self) -> bool:
        return self.is_word("JOIN") or any(map(self.is_word, _JOIN_WORDS))

    def _joining(self, position: SourceSpan) -> JoinClause:
        words = list[str]()
        while not self.is_word("JOIN"):
            if not any(map(self.is_word, _JOIN_WORDS)):
                raise self.unexpected("JOIN")
            words.append(self.position().quoted.upper())
            self.skip()
        position = position.to(self.position())
        self.need("JOIN")
        how = _JOIN_KINDS.get(tuple(words))
        if how is None:
            raise _no_such_join(words, position)
        source = self._source()
        if self.take("USING"):
            return JoinClause(how, source, position, using=self._name_list())
        self.need("ON", "USING")
        return JoinClause(how, source, position, on=self.value("a predicate"))

    def _name_list(self) -> tuple[Name, ...]:
        self.need("(")
        names = tuple(self._listed(lambda: self.name("a column")))
        self.need(")")
        return names

    def _source(self) -> FromItem:
        start = self.position()
        what = self._what()
        window = self.window_in_brackets()
        alias = self._alias()
        if window is not None and self.is_word("["):
            raise self.failure("a stream has one window: leave one of them out")
        window = window or self.window_in_brackets()
        if alias is None:
            alias = self._alias()
        _check_owner(window, alias or what)
        return FromItem(what, alias, window, start.to(self.last_position()))

    def _alias(self) -> Name | None:
        return self.name("an alias") if self.take("AS") or self.is_name() else None

    def _what(self) -> Name | Select:
        if self.is_word("("):
            start = self.position()
            self.take("(")
            if not self.is_word("SELECT") and not self.is_word("WITH") and not self.is_word("("):
                raise unsupported("parentheses around streams", start, "write a query: (SELECT … FROM …)")
            query = self.select()
            self.need(")")
            return query
        if self.is_text():
            raise unsupported("a text in FROM", self.position(), "name the stream, and declare it by CREATE STREAM")
        name = self.name("a stream, or a query in parentheses")
        if self.is_word("."):
            raise unsupported(
                "a name with a dot in FROM", self.position(), "streams have plain names; put it in quotes"
            )
        if self.is_word("("):
            raise unsupported("a function in FROM", self.position(), "name a stream")
        return name

    def _listed(self, read: Callable[[], Element]) -> list[Element]:
        """Read elements with commas between them."""
        elements = [read()]
        while self.take(","):
            elements.append(read())
        return elements


def _no_such_join(words: list[str], position: SourceSpan) -> SqlError:
    if words[:1] == ["RIGHT"]:
        return unsupported(f"{' '.join(words)} JOIN", position, "swap the streams and write LEFT")
    return SqlError(f"there is no {' '.join(words)} JOIN", position, expected="INNER, LEFT, RIGHT, FULL, SEMI or ANTI")


def _check_owner(window: WindowClause | None, owner: Name | Select) -> None:
    """Raise if a window names columns of another stream than the one that it stands behind."""
    for column in window.columns if window is not None else ():
        is_own = isinstance(owner, Name) and column.stream is not None and column.stream.lower() == owner.text.lower()
        if column.stream is not None and not is_own:
            raise SqlError(
                f"the window of a stream is about its own columns: leave out {column.stream}", column.position
            )
