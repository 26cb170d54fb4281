"""Streams of FROM: what each has to offer, and how it is declared anew for the join that it takes part in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from punctuated.bind.sources import Announced, RowsWith, Source, Sources, Unique, When, single_sources
from punctuated.bind.streams import Stream
from punctuated.errors import UnusedPunctuationsWarning, warn_caller
from punctuated.model.arguments import free_names
from punctuated.model.expression import HERE, Column, Expression, Operation
from punctuated.output.columns import payload_of
from punctuated.sql.bind.windows import stream_window
from punctuated.sql.parse.errors import at
from punctuated.sql.parse.syntax import Name
from punctuated.sql.parse.syntax import Source as InFrom


@dataclass(frozen=True)
class Input:
    """A stream of FROM; its visible columns are expressions over those that it has."""

    alias: str
    stream: Stream
    columns: Mapping[str, Expression] = field(repr=False)
    source: InFrom = field(repr=False)

    def plain(self, name: str) -> str | None:
        """The stream's own column behind a visible one, if it is one."""
        value = self.columns[name]
        return value.name if isinstance(value, Column) else None

    def with_columns(self, names: Sequence[str]) -> "Input":
        """The same with these visible columns, computed ones too, as columns of the stream itself."""
        computed = {name: self.columns[name] for name in names if self.plain(name) is None}
        if not computed:
            return self
        own = list(own_columns(self.stream))
        fresh = dict(zip(computed, free_names(computed, own), strict=True))
        select = {name: here(name) for name in own} | {fresh[name]: value for name, value in computed.items()}
        with at(self.source.position):
            stream = self.stream.with_(select=select)
        return replace(self, stream=stream, columns={**self.columns, **{name: here(fresh[name]) for name in computed}})

    def declared(
        self, key: tuple[str, ...] | None, filters: Sequence[Expression], values: Mapping[str, Any], *, windowed: bool
    ) -> Stream:
        """The stream for a join on this key, of those rows alone that the filters keep."""
        changes: dict[str, Any] = {"name": self.alias}
        if filters:
            changes["where"] = all_of(filters)
        if key is not None and key != self.stream.spec.key:
            changes |= self._by_another_key(key)
        if windowed and self.source.window is not None:
            shown = [name for name in self.columns if self.plain(name) == name]
            changes["window"] = stream_window(self.source.window, shown, key or self.stream.spec.key, values)
        with at(self.source.position):
            return self.stream.with_(**changes)

    def _by_another_key(self, key: tuple[str, ...]) -> dict[str, Any]:
        """The key of the join is not the one that the stream's punctuations are about: some say nothing here."""
        stream, given = self.stream, single_sources(self.stream.punctuations)
        kept = [each for each in (_for_key(each, stream.spec.key, key) for each in given) if each is not None]
        if len(kept) < len(given):
            own, wanted = ", ".join(stream.spec.key), ", ".join(key) or "no key"
            message = (
                f"{self.alias} is punctuated by {own}, but this query joins it by {wanted}: its punctuations end no "
                "value here, and are not used"
            )
            warn_caller(message, UnusedPunctuationsWarning)
        # Of a join's output no key at all is not the same as its own.
        changes: dict[str, Any] = {"key": key if stream.spec.is_output else key or None}
        if given:
            changes["punctuations"] = Sources(tuple(kept)) if kept else None
        return changes


def _for_key(source: Source, own: tuple[str, ...], key: tuple[str, ...]) -> Source | None:
    """What a source says of another key; None if nothing.

    Of a key with more columns a row is still the only one, or the last one, if it was of fewer.
    """
    if isinstance(source, RowsWith):
        return source
    if isinstance(source, Announced) and set(own) == set(key):
        return replace(source, key=tuple(source.key[own.index(name)] for name in key))
    if isinstance(source, Unique | When) and set(own) <= set(key):
        return source
    return source if set(own) == set(key) else None


def own_columns(stream: Stream) -> tuple[str, ...]:
    """The columns of a stream, without the time that a join carries along."""
    return (
        tuple(dict.fromkeys([*stream.spec.key, *payload_of(stream.spec)]))
        if stream.spec.is_output
        else stream.spec.columns
    )


def alias_of(source: InFrom) -> str:
    """What a stream of FROM is called in the query."""
    if source.alias is not None:
        return source.alias.text
    return source.what.text if isinstance(source.what, Name) else ""


def here(name: str) -> Column:
    """A column of the table at hand."""
    return Column(HERE, name)


def all_of(predicates: Sequence[Expression]) -> Expression:
    """All of these hold."""
    return reduce(lambda first, second: Operation("&", first, second), predicates)
