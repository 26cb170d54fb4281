"""One stream of FROM: its visible columns, and how it is declared anew for the join that it takes part in.

A key that differs from the declared one changes which punctuations can be used: those that say nothing about the key of
the join are left out, with a warning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from punctuated.bind.sources import Announced, RowsWith, Source, Sources, Unique, When, single_sources
from punctuated.bind.streams import Stream
from punctuated.errors import UnusedPunctuationsWarning, warn_caller
from punctuated.expressions.nodes import HERE, Column, Expression, Operation
from punctuated.model.arguments import free_names
from punctuated.output.columns import payload_of
from punctuated.sql.bind.windows import stream_window
from punctuated.sql.parse.errors import at
from punctuated.sql.parse.syntax import FromItem as InFrom
from punctuated.sql.parse.syntax import Name


@dataclass(frozen=True)
class FromStream:
    """A stream of FROM; its visible columns are expressions over the columns that it has."""

    alias: str
    stream: Stream
    columns: Mapping[str, Expression] = field(repr=False)
    source: InFrom = field(repr=False)

    def own_name(self, name: str) -> str | None:
        """The stream's own name of a visible column; None if the column is computed."""
        value = self.columns[name]
        return value.name if isinstance(value, Column) else None

    def with_columns(self, names: Sequence[str]) -> "FromStream":
        """The stream, with those of these visible columns that are computed as columns of its own."""
        computed = {name: self.columns[name] for name in names if self.own_name(name) is None}
        if not computed:
            return self
        own = list(own_columns(self.stream))
        fresh = dict(zip(computed, free_names(computed, own), strict=True))
        select = {name: plain_column(name) for name in own} | {fresh[name]: value for name, value in computed.items()}
        with at(self.source.position):
            stream = self.stream.with_(select=select)
        return replace(
            self, stream=stream, columns={**self.columns, **{name: plain_column(fresh[name]) for name in computed}}
        )

    def declared(
        self,
        key: tuple[str, ...] | None,
        filters: Sequence[Expression],
        arguments: Mapping[str, Any],
        *,
        windowed: bool,
    ) -> Stream:
        """The stream as a join on this key reads it, without the rows that a filter drops."""
        changes: dict[str, Any] = {"name": self.alias}
        if filters:
            changes["where"] = all_of(filters)
        if key is not None and key != self.stream.spec.key:
            changes |= self._by_another_key(key)
        if windowed and self.source.window is not None:
            shown = [name for name in self.columns if self.own_name(name) == name]
            changes["window"] = stream_window(self.source.window, shown, key or self.stream.spec.key, arguments)
        with at(self.source.position):
            return self.stream.with_(**changes)

    def _by_another_key(self, key: tuple[str, ...]) -> dict[str, Any]:
        """The changes to a stream that is joined on another key; warns of punctuations that are left out."""
        stream, present = self.stream, single_sources(self.stream.punctuations)
        kept = [each for each in (_for_key(each, stream.spec.key, key) for each in present) if each is not None]
        if len(kept) < len(present):
            own, wanted = ", ".join(stream.spec.key), ", ".join(key) or "no key"
            message = (
                f"{self.alias} is punctuated by {own}, but this query joins it by {wanted}: its punctuations end no "
                "value here, and are not used"
            )
            warn_caller(message, UnusedPunctuationsWarning)
        # For the output of a join an empty key is not the same as None, which keeps the join's own.
        changes: dict[str, Any] = {"key": key if stream.spec.is_output else key or None}
        if present:
            changes["punctuations"] = Sources(tuple(kept)) if kept else None
        return changes


def _for_key(source: Source, own: tuple[str, ...], key: tuple[str, ...]) -> Source | None:
    """The source as it holds for the key `key` of a join; None if it says nothing about it.

    A row that is the only one or the last one of its key is so of a key with more columns, too.
    """
    if isinstance(source, RowsWith):
        return source
    if isinstance(source, Announced) and set(own) == set(key):
        return replace(source, key=tuple(source.key[own.index(name)] for name in key))
    if isinstance(source, Unique | When) and set(own) <= set(key):
        return source
    return source if set(own) == set(key) else None


def own_columns(stream: Stream) -> tuple[str, ...]:
    """The columns of a stream; the output of a join also carries a time, which is left out."""
    return (
        tuple(dict.fromkeys([*stream.spec.key, *payload_of(stream.spec)]))
        if stream.spec.is_output
        else stream.spec.columns
    )


def alias_of(source: InFrom) -> str:
    """The name of a stream of FROM in the query; empty for a query without an alias."""
    if source.alias is not None:
        return source.alias.text
    return source.what.text if isinstance(source.what, Name) else ""


def plain_column(name: str) -> Column:
    """A column of the one table that an expression is evaluated over."""
    return Column(HERE, name)


def all_of(predicates: Sequence[Expression]) -> Expression:
    """The predicate that is true where all of these are."""
    return reduce(lambda first, second: Operation("&", first, second), predicates)
