"""Punctuations that end no value, remembered for the check of later batches: a part of the memory of punctuations."""

from collections.abc import Set
from typing import Any

import pyarrow as pa

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.intake.promises import Promise
from punctuated.join.state.saved import Content, Loaded
from punctuated.model.pattern import Wildcard
from punctuated.model.pattern_text import parse_punctuation, print_patterns


class PromiseMemory:
    """The promises of all streams."""

    def __init__(self, schemas: tuple[pa.Schema, ...]) -> None:
        self._schemas = schemas
        self.kept: tuple[list[Promise], ...] = tuple([] for _ in schemas)

    def __getitem__(self, side: int) -> list[Promise]:
        return self.kept[side]

    def forget(self, orders: Set[int]) -> None:
        """Forget those with these places in the order of arrival."""
        for promises in self.kept:
            promises[:] = [each for each in promises if each.order not in orders]

    def save(self) -> Content:
        """Each with the names of the columns that it restricts: the stream may gain others."""
        both = zip(self.kept, self._schemas, strict=True)
        return Content({"kept": to_json([[_write(each, schema) for each in promises] for promises, schema in both])})

    def load(self, saved: Loaded) -> None:
        """Go on with the promises of `save`."""
        for promises, schema, written in zip(self.kept, self._schemas, from_json(saved.plain["kept"]), strict=True):
            promises[:] = [_read(each, schema) for each in written]


def _write(promise: Promise, schema: pa.Schema) -> list[Any]:
    told = {n: p for n, p in zip(promise.columns, promise.patterns, strict=True) if not isinstance(p, Wildcard)}
    text = print_patterns(list(told.values()), [schema.field(name).type for name in told])
    return [list(told), text, promise.ts, promise.order, promise.touched, promise.announced]


def _read(written: list[Any], schema: pa.Schema) -> Promise:
    names, text, *rest = written
    return Promise(tuple(names), parse_punctuation(text, [schema.field(name).type for name in names]), *rest)
