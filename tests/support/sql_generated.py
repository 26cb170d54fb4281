"""Queries made up from a seed, in our SQL and in DuckDB's: joins of all kinds, predicates, groups, unions, sub-queries.

Windows are left out: what they mean, DuckDB does not know. Each query is valid by construction.
"""

from dataclasses import dataclass
from random import Random

NUMBERS = {
    "Auction": ("item_id", "seller", "reserve", "opened_at"),
    "Bid": ("item_id", "bidder", "price", "bid_at"),
    "Person": ("id", "joined_at"),
    "Store1": ("ItemNum", "Price"),
    "Store2": ("ItemNum", "Price"),
    "Buy": ("price", "volume"),
    "Sell": ("price", "volume"),
}
TEXTS = {
    "Auction": ("title",),
    "Bid": (),
    "Person": ("name",),
    "Store1": ("ItemName",),
    "Store2": ("ItemName",),
    "Buy": ("symbol",),
    "Sell": ("symbol",),
}
KEYS = (
    ("Auction", "item_id", "Bid", "item_id"),
    ("Store1", "ItemNum", "Store2", "ItemNum"),
    ("Auction", "seller", "Person", "id"),
    ("Bid", "bidder", "Person", "id"),
    ("Bid", "bidder", "Auction", "seller"),
    ("Buy", "symbol", "Sell", "symbol"),
)
JOINS = ("", "", "INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
_DEEP = 2  # expressions inside of expressions


@dataclass(frozen=True)
class _From:
    """What stands behind FROM, and which columns can be seen."""

    text: str
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    where: tuple[str, ...] = ()


class Queries:
    """Makes queries; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def query(self) -> str:
        """The next one."""
        kind = self._random.random()
        if kind < 0.75:
            return self._block()
        if kind < 0.85:
            return f"{self._two_columns()} UNION ALL {self._two_columns()}"
        if kind < 0.95:
            return f"SELECT c0, COUNT(*) AS n FROM ({self._two_columns()}) GROUP BY c0"
        return f"WITH q AS ({self._two_columns()}) SELECT COUNT(*) AS n FROM q WHERE c0 > 3 OR c1 IS NULL GROUP BY c1"

    def _block(self) -> str:
        of = self._from()
        items = [self._item(of) for _ in range(self._random.randint(1, 3))]
        if self._random.random() < 0.5:
            listed = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))
            return f"SELECT {self._random.choice(('', '', 'DISTINCT '))}{listed} FROM {of.text}{self._where(of)}"
        by = [self._random.choice(of.numbers + of.texts) for _ in range(self._random.randint(1, 2))]
        groups = [f"{each} AS g{number}" for number, each in enumerate(by)]
        values = [f"{self._aggregate(of)} AS a{number}" for number in range(self._random.randint(1, 2))]
        having = self._random.choice(("", "", " HAVING COUNT(*) > 2", f" HAVING MAX({of.numbers[0]}) > 5"))
        grouped = f"{', '.join(groups + values)} FROM {of.text}{self._where(of)} GROUP BY {', '.join(by)}"
        return f"SELECT {grouped}{having}"

    def _two_columns(self) -> str:
        of = self._from()
        items = ", ".join(f"CAST({self._number(of)} AS DOUBLE) AS c{number}" for number in range(2))
        return f"SELECT {items} FROM {of.text}{self._where(of)}"

    # FROM and WHERE

    def _from(self) -> _From:
        if self._random.random() < 0.3:
            name = self._random.choice(sorted(NUMBERS))
            return _From(name, NUMBERS[name], TEXTS[name])
        left, left_key, right, right_key = self._random.choice(KEYS)
        ours, theirs = _seen(left, "L"), _seen(right, "R")
        both = _From("", ours.numbers + theirs.numbers, ours.texts + theirs.texts)
        predicates = [f"L.{left_key} = R.{right_key}"]
        predicates += [self._predicate(self._random.choice((ours, theirs, both))) for _ in range(self._few())]
        how = self._random.choice(JOINS)
        if not how:
            return _From(f"{self._source(ours)}, {self._source(theirs)}", both.numbers, both.texts, tuple(predicates))
        text = f"{self._source(ours)} {how} JOIN {self._source(theirs)} ON {' AND '.join(predicates)}"
        seen = ours if how in ("LEFT SEMI", "LEFT ANTI") else both
        return _From(text, seen.numbers, seen.texts)

    def _source(self, of: _From) -> str:
        name, alias = of.text.split()
        kind = self._random.random()
        if kind < 0.8:
            return of.text
        inner = _From(name, NUMBERS[name], TEXTS[name])
        rows = f"SELECT * FROM {name}" + ("" if kind < 0.9 else f" WHERE {self._predicate(inner)}")
        return f"({rows}{f' UNION ALL SELECT * FROM {name}' if kind < 0.9 else ''}) {alias}"

    def _where(self, of: _From) -> str:
        predicates = [*of.where, *(self._predicate(of) for _ in range(self._few()))]
        return f" WHERE {' AND '.join(predicates)}" if predicates else ""

    def _few(self) -> int:
        return self._random.choice((0, 0, 1, 1, 2))

    # Expressions

    def _item(self, of: _From) -> str:
        if of.texts and self._random.random() < 0.3:
            return self._text(of)
        return self._predicate(of) if self._random.random() < 0.1 else self._number(of)

    def _number(self, of: _From, depth: int = 0) -> str:
        column = self._random.choice(of.numbers)
        if depth >= _DEEP or self._random.random() < 0.4:
            return self._random.choice((column, column, column, "2", "50", "2.5"))
        inner, other = self._number(of, depth + 1), self._number(of, depth + 1)
        made = (
            f"({inner} {self._random.choice('+-')} {other})",
            f"({inner} / 4)",
            f"COALESCE({inner}, -1)",
            f"CASE WHEN {self._predicate(of, depth + 1)} THEN {inner} ELSE {other} END",
            f"CASE WHEN {self._predicate(of, depth + 1)} THEN {inner} END",
            f"ABS({inner})",
            f"NULLIF({inner}, 2)",
            f"LEAST({inner}, {other})",
        )
        return self._random.choice(made)

    def _text(self, of: _From) -> str:
        column = self._random.choice(of.texts)
        made = (column, f"UPPER({column})", f"{column} || 'x'", f"SUBSTRING({column}, 1, 2)", f"COALESCE({column}, '')")
        return self._random.choice(made)

    def _predicate(self, of: _From, depth: int = 0) -> str:
        column, sign = self._random.choice(of.numbers), self._random.choice(("=", "<>", "<", "<=", ">", ">="))
        if depth < _DEEP and self._random.random() < 0.4:
            first, second = self._predicate(of, depth + 1), self._predicate(of, depth + 1)
            return self._random.choice((f"({first} AND {second})", f"({first} OR {second})", f"NOT ({first})"))
        made = [
            f"{self._number(of, _DEEP)} {sign} {self._number(of, _DEEP)}",
            f"{column} {self._random.choice(('', 'NOT '))}BETWEEN 2 AND 20",
            f"{column} {self._random.choice(('', 'NOT '))}IN (1, 2, {self._random.randrange(40)})",
            f"{column} IS {self._random.choice(('', 'NOT '))}NULL",
            f"{column} % 3 = {self._random.randrange(3)}",
        ]
        if of.texts:
            text = self._random.choice(of.texts)
            made += [f"{self._text(of)} {sign} 'lamp'", f"{text} LIKE '%a%'", f"{text} IN ('lamp', 'AA', NULL)"]
        return self._random.choice(made)

    def _aggregate(self, of: _From) -> str:
        if self._random.random() < 0.3:
            return "COUNT(*)"
        if of.texts and self._random.random() < 0.2:
            return f"{self._random.choice(('MIN', 'MAX', 'COUNT'))}({self._text(of)})"
        return f"{self._random.choice(('SUM', 'MIN', 'MAX', 'AVG', 'COUNT'))}({self._number(of)})"


def _seen(stream: str, alias: str) -> _From:
    numbers, texts = (tuple(f"{alias}.{name}" for name in names[stream]) for names in (NUMBERS, TEXTS))
    return _From(f"{stream} {alias}", numbers, texts)
