"""Promises over ranges or over attributes outside the key: which tuples of a batch break them, and what is remembered.

Objects of a batch are processed in the order of time, so a punctuation takes effect within a batch only before later
times. A tuple therefore breaks it iff its time is later, or the punctuation was in effect before the batch. That needs
no loop.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_json, to_json
from punctuated.keys.pattern_match import match_columns
from punctuated.model.pattern import Pattern, Wildcard
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.snapshot.parts import Content, Loaded


@dataclass(frozen=True)
class Promise:
    """No tuple of the stream matches these patterns after `ts`."""

    columns: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    ts: int
    order: int = 0  # order of arrival
    touched: int = 0
    announced: bool = False  # it came apart from the stream: in effect only beyond `ts`


def broken(
    promises: Sequence[Promise], fresh: Sequence[Promise], rows: pa.Table, ts: npt.NDArray[np.int64], watermark: int
) -> npt.NDArray[np.bool_]:
    """Rows that break an earlier promise, or one of this batch; `watermark` is the one before the batch."""
    mask = np.zeros(ts.size, np.bool_)
    for known, promise in [*((True, p) for p in promises), *((False, p) for p in fresh)]:
        in_effect = known and watermark >= promise.ts + promise.announced
        suspects = np.ones(ts.size, np.bool_) if in_effect else ts > promise.ts
        if suspects.any():
            mask |= suspects & match_columns(promise.patterns, [rows[name] for name in promise.columns])
    return mask


# The memory of promises


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
    restricted = {n: p for n, p in zip(promise.columns, promise.patterns, strict=True) if not isinstance(p, Wildcard)}
    text = print_patterns(list(restricted.values()), [schema.field(name).type for name in restricted])
    return [list(restricted), text, promise.ts, promise.order, promise.touched, promise.announced]


def _read(written: list[Any], schema: pa.Schema) -> Promise:
    names, text, *rest = written
    return Promise(tuple(names), parse_punctuation(text, [schema.field(name).type for name in names]), *rest)
