"""Output punctuations: values that are over in the output. They become text only when read, because most are never
read.

For another join they also get new times: the time of a punctuation is that of its proof, and results of its value may
be later, if a stream lags or a broken promise was accepted. The next join would take such results for broken promises.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.json_rows import render_values
from punctuated.keys.codec import Decoded, key_codec
from punctuated.model.pattern_text import print_literal
from punctuated.model.times import key_microseconds

Ints = npt.NDArray[np.int64]
_PLAIN_TEXT = r"\A[0-9A-Za-z_]([0-9A-Za-z_ .:@/+-]*[0-9A-Za-z_.:@/+-])?\z"  # needs no quotes; not all such texts


class LatestResults:
    """Times of results by key, of a batch that may come in several parts.

    >>> latest = LatestResults([pa.int64()])
    >>> latest.add([pa.chunked_array([[7, 5, 7]])], np.array([1, 4, 3]))
    >>> latest.not_before([pa.chunked_array([[7, 8]])], np.array([2, 2]), latest_ts=9).tolist()
    [3, 2]
    """

    def __init__(self, key_types: Sequence[pa.DataType]) -> None:
        self._codec = key_codec(key_types)
        self._codes, self._ts = np.empty(0, np.int64), np.empty(0, np.int64)

    def add(self, keys: Sequence[pa.ChunkedArray], ts: Ints) -> None:
        """Results with these keys came at these times."""
        codes, valid = self._codec.encode(keys)
        codes, ts = np.concatenate([self._codes, codes[valid]]), np.concatenate([self._ts, ts[valid]])
        if not codes.size:
            return
        order = np.argsort(codes, kind="stable")
        codes, ts = codes[order], ts[order]
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        self._codes, self._ts = codes[starts], np.maximum.reduceat(ts, starts)

    def not_before(self, keys: Sequence[pa.Array | pa.ChunkedArray], ts: Ints, latest_ts: int) -> Ints:
        """The times of punctuations, or those of the latest results that they cover, if these are later.

        A range, whose keys are null, also covers other buckets: of their results only the latest time is known.
        """
        codes, valid = self._codec.encode(keys)
        own = np.where(valid, ts, np.maximum(ts, latest_ts))
        if not self._codes.size:
            return own
        place = np.minimum(np.searchsorted(self._codes, codes), self._codes.size - 1)
        return np.where(valid & (self._codes[place] == codes), np.maximum(ts, self._ts[place]), own)


# Output punctuations


@dataclass(frozen=True)
class OutputPunctuations:
    """Output punctuations: values by their keys, or ranges, whose keys are null, by their texts."""

    schema: pa.Schema  # as `views.punctuation_schema` makes it
    decode: Decoded  # gives the keys
    ts: Ints
    reasons: Ints
    reason_names: pa.Array  # by those numbers
    texts: pa.Array | None = None

    def __len__(self) -> int:
        return int(self.ts.size)

    @cached_property
    def keys(self) -> list[pa.Array]:
        """The key columns."""
        return self.decode()

    @cached_property
    def table(self) -> pa.Table:
        """The punctuations as they are shown: keys, time in microseconds, reason, pattern."""
        return self._table(print_keys(self.keys) if self.texts is None else self.texts)

    @property
    def for_joins(self) -> pa.Table:
        """The punctuations as another join reads them: without the patterns of single values."""
        return self._table(pa.nulls(len(self), pa.string()) if self.texts is None else self.texts)

    def _table(self, texts: pa.Array) -> pa.Table:
        reasons = self.reason_names.take(pa.array(self.reasons))
        return pa.table([*self.keys, pa.array(self.ts), reasons, texts], schema=self.schema)


def print_keys(keys: Sequence[pa.Array]) -> pa.Array:
    """Punctuations that name one value each, as `print_patterns` writes them.

    >>> print_keys([pa.array([7, 8]), pa.array(["a", "b,c"])]).to_pylist()
    ['<7,a>', '<8,"b,c">']
    """
    columns = [text for key in keys for text in (",", _print_values(key))]
    return pc.binary_join_element_wise("<", *columns[1:], ">", "")


def _print_values(key: pa.Array) -> pa.Array:
    """Values as literals; integers and plain texts are by far the most frequent, and are written all at once."""
    if pa.types.is_integer(key.type) or pa.types.is_boolean(key.type):
        return key.cast(pa.string())
    if not pa.types.is_string(key.type):
        return _print_each(key)
    is_plain = pc.match_substring_regex(key, _PLAIN_TEXT)
    others = pc.invert(is_plain)
    return pc.replace_with_mask(key, others, _print_each(key.filter(others))) if pc.any(others).as_py() else key


def _print_each(key: pa.Array) -> pa.Array:
    return pa.array([print_literal(value, key.type) for value in _python_values(key)], pa.string())


def _by_value(key: pa.Array) -> list[Any]:
    try:
        return list(key.to_pylist())
    except (OverflowError, ValueError):  # Python's calendar ends with the year 9999, but dates do not
        return [json.loads(text) for text in render_values(key).to_pylist()]


def _python_values(key: pa.Array) -> list[Any]:
    """Values as patterns hold them, with times in microseconds; finer times exist only as text."""
    if not pa.types.is_timestamp(key.type):
        return _by_value(key)
    if key.type.unit == "ns":
        return list(pc.replace_substring(key.cast(pa.string()), " ", "T").to_pylist())
    return key_microseconds(key)
