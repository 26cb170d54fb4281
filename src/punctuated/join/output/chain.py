"""The output of a join as the input of another: results are tuples, and what the output says flows on.

A chained stream has one column of time, the result's (the proof's for an unmatched row). Results come in no order of
their own, so their times prove nothing: the stream's watermark is the output watermark of the join it comes from, and
runs up to it in order of time while a batch is processed. So the next join forgets as early within a batch as between
batches, and what it holds does not depend on how the input is cut.
"""

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.intake.reading import Reader
from punctuated.join.intake.recast import recast
from punctuated.join.output.rejected import REJECTED_SCHEMA
from punctuated.join.output.views import (
    END,
    KIND,
    PATTERN,
    PROGRESS,
    PUNCTUATION,
    REASON,
    REJECTED,
    RESULT,
    ROW,
    STREAM,
    TIME,
    WATERMARK,
)
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation
from punctuated.model.times import Fault, to_microseconds

_MICROSECONDS = pa.timestamp("us")


def of_kind(table: pa.Table, kind: str) -> pa.Table:
    """The rows of one kind of a view that has several."""
    return table.filter(pc.equal(table[KIND], kind))


def is_end(table: pa.Table) -> bool:
    """Whether the table says that all streams of the join have ended."""
    return bool(pc.any(pc.equal(table[KIND], END), min_count=0).as_py())


class ChainReader(Reader):
    """Reads the view `chain` of another join."""

    def read(self, table: pa.Table, faults: list[Fault] | None = None) -> StreamBatch:
        """Results as tuples; punctuations as announced ones; the watermark in band, since it moves the stream on."""
        rows = recast(of_kind(table, RESULT).select(list(self.stream.columns)), self.cast_schema)
        endings, ranges = self._endings(of_kind(table, PUNCTUATION))
        reached = [self._progress(each) for each in of_kind(table, PROGRESS)[WATERMARK].to_pylist()]
        over = to_microseconds(of_kind(table, END)[TIME], TIME).tolist()
        ends = [Punctuation(ts, (WILDCARD,) * len(self.stream.columns), in_band=False) for ts in over]
        return StreamBatch(rows, endings, (*ranges, *reached, *ends))

    def passed_on(self, table: pa.Table) -> pa.Table:
        """What the other join has rejected."""
        rejected = of_kind(table, REJECTED)
        times = rejected[TIME].cast(pa.int64() if pa.types.is_integer(rejected[TIME].type) else _MICROSECONDS)
        columns = [rejected[STREAM], rejected[REASON], times.cast(pa.int64()), rejected[ROW]]
        return pa.table(columns, schema=REJECTED_SCHEMA)

    def _endings(self, told: pa.Table) -> tuple[tuple[EndedKeys, ...], list[Punctuation]]:
        if not len(told) or not self.stream.punctuated:  # the other join may be on another key
            return (), []
        names = list(self.stream.key)
        times = to_microseconds(told[TIME], TIME)
        is_range = told[self.stream.key[0]].is_null().to_numpy()
        single = told.filter(pa.array(~is_range))
        keys = recast(single.select(names), pa.schema(list(zip(names, self.types, strict=True))))
        endings = (EndedKeys(keys, pa.chunked_array([pa.array(times[~is_range])]), in_band=False),) if len(keys) else ()
        over = zip(times[is_range].tolist(), told[PATTERN].filter(pa.array(is_range)).to_pylist(), strict=True)
        return endings, [Punctuation(ts, self._whole(text), in_band=False) for ts, text in over]

    def _whole(self, text: str) -> tuple[Pattern, ...]:
        """Patterns of the key columns as patterns of all columns."""
        types = [self.schema.field(name).type for name in self.stream.key]
        by_key = dict(zip(self.stream.key, parse_punctuation(text, types), strict=True))
        return tuple(by_key.get(name, WILDCARD) for name in self.stream.columns)

    def _progress(self, watermark: int) -> Punctuation:
        """No result to come is earlier."""
        bound = Range(None, watermark, high_closed=False)
        return Punctuation(watermark, tuple(bound if name == TIME else WILDCARD for name in self.stream.columns))
