"""The output of a join as the input of another: results are tuples, and output punctuations flow on.

A chained stream has one column of time: that of the result, or that of the proof for an unmatched row. Results come in
no particular order, so their times prove nothing. The stream's watermark is the output watermark of the inner join, and
moves up to it in order of time while a batch is processed. So the next join forgets as early within a batch as between
batches, and what it holds does not depend on how the input is cut.
"""

from functools import cached_property

import pyarrow as pa

from punctuated.arrow.types import recast
from punctuated.intake.reading import Reader
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation
from punctuated.model.times import Fault, to_microseconds
from punctuated.output.batch_result import REJECTED_SCHEMA
from punctuated.output.in_band import END, PROGRESS, PUNCTUATION, REJECTED, RESULT, InBand

_MICROSECONDS = pa.timestamp("us")


class ChainReader(Reader):
    """Reads the view `chain` of another join."""

    @cached_property
    def in_band(self) -> InBand:
        """The columns after those of the other join's results and their time."""
        return InBand.beside(self.stream.columns[:-1] if self.shape is None else self.shape.source.names)

    def read(self, table: pa.Table, faults: list[Fault] | None = None) -> StreamBatch:
        """Results as tuples, punctuations as announced endings, and the watermark in band, as it moves the stream."""
        ours = self.in_band
        rows = recast(self._results(ours.of_kind(table, RESULT)), self.cast_schema)
        endings, ranges = self._endings(ours.of_kind(table, PUNCTUATION))
        reached = [self._progress(each) for each in ours.of_kind(table, PROGRESS)[ours.watermark].to_pylist()]
        over = to_microseconds(ours.of_kind(table, END)[ours.time], ours.time).tolist()
        ends = [Punctuation(ts, (WILDCARD,) * len(self.stream.columns), in_band=False) for ts in over]
        return StreamBatch(rows, endings, (*ranges, *reached, *ends))

    def passed_on(self, table: pa.Table) -> pa.Table:
        """What the other join has rejected."""
        stream, reason, times, row = self.in_band.of_kind(table, REJECTED).select(self.in_band.of_rejected).columns
        times = times.cast(pa.int64() if pa.types.is_integer(times.type) else _MICROSECONDS)
        return pa.table([stream, reason, times.cast(pa.int64()), row], schema=REJECTED_SCHEMA)

    def _results(self, results: pa.Table) -> pa.Table:
        """Results as tuples; those that `where` does not keep do not count, because their times prove nothing."""
        if self.shape is None:
            return results.select(list(self.stream.columns))
        kept = results if self.shape.where is None else results.filter(pa.array(self.shape.kept(results)))
        return self.shape.shaped(kept).append_column(self.stream.time, kept[self.in_band.time])

    def _endings(self, punctuations: pa.Table) -> tuple[tuple[EndedKeys, ...], list[Punctuation]]:
        if not len(punctuations) or not self.stream.punctuated:  # the other join may be on another key
            return (), []
        names = list(self.stream.key)
        if self.shape is not None:
            sources = [self.shape.source_of(name) for name in names]
            punctuations = punctuations.select([*sources, *self.in_band.of_punctuations])
            punctuations = punctuations.rename_columns([*names, *self.in_band.of_punctuations])
        times = to_microseconds(punctuations[self.in_band.time], self.in_band.time)
        is_range = punctuations[names[0]].is_null().to_numpy()
        single = punctuations.filter(pa.array(~is_range))
        keys = recast(single.select(names), pa.schema(list(zip(names, self.types, strict=True))))
        endings = (EndedKeys(keys, pa.chunked_array([pa.array(times[~is_range])]), in_band=False),) if len(keys) else ()
        texts = punctuations[self.in_band.pattern].filter(pa.array(is_range)).to_pylist()
        over = zip(times[is_range].tolist(), texts, strict=True)
        return endings, [Punctuation(ts, self._whole(text), in_band=False) for ts, text in over]

    def _whole(self, text: str) -> tuple[Pattern, ...]:
        """Patterns of the key columns as patterns of all columns."""
        types = [self.schema.field(name).type for name in self.stream.key]
        by_key = dict(zip(self.stream.key, parse_punctuation(text, types), strict=True))
        return tuple(by_key.get(name, WILDCARD) for name in self.stream.columns)

    def _progress(self, watermark: int) -> Punctuation:
        """No later result has an earlier time."""
        bound = Range(None, watermark, high_closed=False)
        patterns = (bound if name == self.stream.time else WILDCARD for name in self.stream.columns)
        return Punctuation(watermark, tuple(patterns))
