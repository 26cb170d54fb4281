"""The output of a join as the input of another: results are tuples, and what the output says flows on.

A chained stream has one column of time, the result's (the proof's for an unmatched row). Its watermark is the output
watermark of the join it comes from: results come in no order of their own, so their times prove nothing.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.intake.reading import Reader
from punctuated.join.intake.recast import recast
from punctuated.join.output.collector import BatchResult
from punctuated.join.output.widen import widen
from punctuated.kernels.layout import FOREVER, NEVER
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation
from punctuated.model.times import from_known_microseconds, from_microseconds, to_microseconds

Ints = npt.NDArray[np.int64]
TIME = "_ts"
TEXTS = ("_kind", "_stream", "_reason", "_pattern", "_row")
_END = "end"
_MICROSECONDS = pa.timestamp("us")


def chain_schema(results: pa.Schema, time_type: pa.DataType) -> pa.Schema:
    """Everything that a join says, in one table: `_kind` is result, punctuation, rejected or watermark."""
    return pa.schema([*results, (TIME, time_type), *((name, pa.string()) for name in TEXTS)])


def chain_tables(
    schema: pa.Schema, key: Sequence[str], batch: BatchResult, rejected: Sequence[pa.Table], speaks_for_all: bool
) -> list[pa.Table]:
    """What a batch brings, in the columns of `chain_schema`.

    A punctuation must not come before results of its batch, so its time is not before theirs.
    """
    newest = max((int(ts.max()) for ts in batch.result_ts if ts.size), default=NEVER)
    tables = [_table(schema, "result", table, ts) for table, ts in zip(batch.results, batch.result_ts, strict=True)]
    for table in batch.punctuations:
        said = table.rename_columns([*key, TIME, "_reason", "_pattern"])
        tables.append(_table(schema, "punctuation", said, np.maximum(np.asarray(said[TIME]), newest)))
    renamed = [table.rename_columns(["_stream", "_reason", TIME, "_row"]) for table in rejected]
    tables += [_table(schema, "rejected", table, None) for table in renamed]
    if speaks_for_all and batch.watermark > NEVER:
        is_end = batch.watermark >= FOREVER // 2
        told = pa.table({"_row": [_END if is_end else str(batch.watermark)]})
        tables.append(_table(schema, "watermark", told, np.array([batch.horizon if is_end else batch.watermark])))
    return tables


def _table(schema: pa.Schema, kind: str, table: pa.Table, ts: Ints | None) -> pa.Table:
    given = dict(zip(table.column_names, table.columns, strict=True))
    given["_kind"] = pa.array([kind]).take(pa.array(np.zeros(len(table), np.int8)))
    if ts is not None:
        known = from_microseconds(np.maximum(ts, -(2**60)), schema.field(TIME).type)
        given[TIME] = known
    elif TIME in given:
        given[TIME] = from_known_microseconds(given[TIME], schema.field(TIME).type)
    return widen(pa.table(given), schema)


def is_end(table: pa.Table) -> bool:
    """Whether the table says that both streams of the join have ended."""
    told = pc.and_(pc.equal(table["_kind"], "watermark"), pc.equal(table["_row"], _END))
    return bool(pc.any(told, min_count=0).as_py())


class ChainReader(Reader):
    """Reads what `chain_tables` has written."""

    def read(self, table: pa.Table, corrupt: list[tuple[int, str]] | None = None) -> StreamBatch:
        """Results as tuples; punctuations, the watermark and the end as announced punctuations."""
        kinds = table["_kind"]
        rows = recast(table.filter(pc.equal(kinds, "result")).select(list(self.stream.columns)), self.cast_schema)
        said = table.filter(pc.equal(kinds, "punctuation"))
        told = table.filter(pc.equal(kinds, "watermark"))
        endings, ranges = self._endings(said)
        return StreamBatch(rows, endings, (*ranges, *self._watermarks(told)))

    def passed_on(self, table: pa.Table) -> list[tuple[str, str, int | None, str]]:
        """What the other join has rejected: stream, reason, time in microseconds, row."""
        rejected = table.filter(pc.equal(table["_kind"], "rejected"))
        times = rejected[TIME].cast(pa.int64() if pa.types.is_integer(rejected[TIME].type) else _MICROSECONDS)
        columns = [rejected["_stream"], rejected["_reason"], times.cast(pa.int64()), rejected["_row"]]
        return list(zip(*(column.to_pylist() for column in columns), strict=True))

    def _endings(self, said: pa.Table) -> tuple[tuple[EndedKeys, ...], list[Punctuation]]:
        if not len(said) or not self.stream.punctuated:  # the other join may be on another key
            return (), []
        names = list(self.stream.key)
        times = to_microseconds(said[TIME], TIME)
        is_range = said[self.stream.key[0]].is_null().to_numpy()
        single = said.filter(pa.array(~is_range))
        keys = recast(single.select(names), pa.schema(list(zip(names, self.types, strict=True))))
        endings = (EndedKeys(keys, pa.chunked_array([pa.array(times[~is_range])]), in_band=False),) if len(keys) else ()
        texts = said["_pattern"].to_pylist()
        places = np.flatnonzero(is_range).tolist()
        return endings, [Punctuation(int(times[i]), self._whole(texts[i]), in_band=False) for i in places]

    def _whole(self, text: str) -> tuple[Pattern, ...]:
        """Patterns of the key columns as patterns of all columns."""
        types = [self.schema.field(name).type for name in self.stream.key]
        by_key = dict(zip(self.stream.key, parse_punctuation(text, types), strict=True))
        return tuple(by_key.get(name, WILDCARD) for name in self.stream.columns)

    def _watermarks(self, told: pa.Table) -> list[Punctuation]:
        times = to_microseconds(told[TIME], TIME).tolist()
        said = []
        for ts, text in zip(times, told["_row"].to_pylist(), strict=True):
            bound = WILDCARD if text == _END else Range(None, int(text), high_closed=False)
            patterns: tuple[Pattern, ...] = tuple(bound if name == TIME else WILDCARD for name in self.stream.columns)
            said.append(Punctuation(ts, patterns, in_band=False))
        return said
