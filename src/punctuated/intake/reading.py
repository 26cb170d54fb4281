"""Rows of a stream as a batch for the driver: keys in their common type, pattern rows taken out.

A row that cannot be read is a fault: it raises an error. In a running query it is put aside instead, with its place and
the reason, so that one row cannot stop all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.types import recast, uncastable
from punctuated.errors import ColumnError, PatternError
from punctuated.expressions.shape import Mask, Shape
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern import Pattern, bounds_of
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation, check_named
from punctuated.model.spec import StreamSpec
from punctuated.model.times import LARGEST_TIME, Fault, read_times, to_microseconds

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Reader:
    """How the rows of one stream are read."""

    stream: StreamSpec
    pattern_column: str | None
    schema: pa.Schema  # of the tuples as they arrive
    types: tuple[pa.DataType, ...]  # common types of the key columns
    shape: Shape | None = None  # how rows become tuples, and which of them do

    @property
    def source_columns(self) -> list[str]:
        """The columns that are read of the data."""
        if self.shape is not None:
            return self.shape.needed
        return [*self.schema.names, *([self.pattern_column] if self.pattern_column else [])]

    @property
    def cast_schema(self) -> pa.Schema:
        """The tuples' columns with keys of the common types."""
        cast = dict(zip(self.stream.key, self.types, strict=True))
        return pa.schema([pa.field(each.name, cast.get(each.name, each.type)) for each in self.schema])

    def read(self, table: pa.Table, faults: list[Fault] | None = None) -> StreamBatch:
        """Tuples and punctuations of one table; what cannot be read raises, or is put into `faults`, if given."""
        if self.shape is None:
            return self._read(table, faults)
        shaped = self.shape.shaped(table)
        kept = self._kept(table, shaped)
        if kept.all():
            return self._read(shaped, faults)
        batch = self._read(shaped.filter(pa.array(kept)), faults, np.flatnonzero(kept))
        endings, passed = self._passed_over(shaped.filter(pa.array(~kept)))
        return replace(batch, endings=batch.endings + endings, passed=passed)

    def _kept(self, table: pa.Table, shaped: pa.Table) -> Mask:
        """Which rows are tuples or punctuations; a punctuation counts whatever is in its other columns."""
        assert self.shape is not None
        kept = self.shape.kept(table)
        return kept if self.pattern_column is None else kept | np.asarray(shaped[self.pattern_column].is_valid())

    def _passed_over(self, rows: pa.Table) -> tuple[tuple[EndedKeys, ...], Ints]:
        """What rows say that are not tuples: which keys are over, and when they came. Their faults do not matter."""
        stream, nobody = self.stream, list[Fault]()
        sound = _sound_rows(rows, stream.time, self._key_schema, "", nobody)
        ends = np.full(len(sound.table), stream.unique)
        if stream.flag is not None:
            ends |= np.asarray(pc.fill_null(sound.table[stream.flag], False))
        over, rest = sound.filter(ends), sound.times[~ends]
        passed = np.sort(rest)[-1:] if stream.max_ahead_us is None else np.unique(rest)  # the newest one is enough
        if not len(over.table):
            return (), passed
        keys = recast(over.table.select(list(stream.key)), self._key_schema)
        return (EndedKeys(keys, pa.chunked_array([pa.array(over.times)]), in_band=True, of_rows=True),), passed

    @property
    def _key_schema(self) -> pa.Schema:
        return pa.schema(list(zip(self.stream.key, self.types, strict=True)))

    def _read(self, table: pa.Table, faults: list[Fault] | None, among: Ints | None = None) -> StreamBatch:
        """Read rows that are tuples or punctuations; `among` are their positions in the original table."""
        rows = _sound_rows(table, self.stream.time, self._key_schema, f"stream {self.stream.name!r}", faults, among)
        columns = list(self.stream.columns)
        if self.pattern_column is None:
            return StreamBatch(recast(rows.table.select(columns), self.cast_schema))
        is_row = rows.table[self.pattern_column].is_null().to_numpy()
        patterns = rows.filter(~is_row)
        endings, others = self._single_values(patterns)
        return StreamBatch(
            rows=recast(rows.table.filter(pa.array(is_row)).select(columns), self.cast_schema),
            endings=endings,
            punctuations=self._parse(others, faults),
        )

    def passed_on(self, table: pa.Table) -> pa.Table | None:
        """Tuples that were rejected before they came here, in the form in which they are shown."""
        return None

    def _single_values(self, patterns: "_Rows") -> tuple[tuple[EndedKeys, ...], "_Rows"]:
        """Splits punctuations: those that name one integer key and nothing else, and all others.

        The first kind is by far the most frequent, and reading these one by one would take longer than the join.
        """
        key, columns = self.stream.key, self.stream.columns
        dtype = self.schema.field(key[0]).type if len(key) == 1 else None
        if not len(patterns.table) or dtype is None or not pa.types.is_integer(dtype):
            return (), patterns
        texts = patterns.table[self.pattern_column].cast(pa.string()).combine_chunks()
        attributes = (r"(?P<key>-?[0-9]{1,18})" if name == key[0] else r"\*" for name in columns)
        found = pc.extract_regex(texts, r"^\s*<\s*" + r"\s*,\s*".join(attributes) + r"\s*>\s*$")
        keys = pc.struct_field(found, "key").cast(pa.int64())
        limits = np.iinfo(dtype.to_pandas_dtype())
        fits = pc.and_(pc.greater_equal(keys, int(limits.min)), pc.less_equal(keys, min(int(limits.max), 2**63 - 1)))
        single = np.asarray(pc.fill_null(fits, False)).astype(np.bool_)
        if not single.any():
            return (), patterns
        named = pa.table([keys.filter(pa.array(single)).cast(self.types[0])], names=[key[0]])
        times = pa.chunked_array([pa.array(patterns.times[single])])
        return (EndedKeys(named, times, in_band=True),), patterns.filter(~single)

    def _parse(self, patterns: "_Rows", faults: list[Fault] | None) -> tuple[Punctuation, ...]:
        types = [self.schema.field(name).type for name in self.stream.columns]
        texts = patterns.table[self.pattern_column].to_pylist()
        parsed = []
        for text, ts, place in zip(texts, patterns.times.tolist(), patterns.places.tolist(), strict=True):
            try:
                found = parse_punctuation(text, types)
                check_named(found, self.stream.columns, self.stream.key)
                _check_times(found[self.stream.columns.index(self.stream.time)], text)
                parsed.append(Punctuation(ts, found))
            except PatternError as error:
                if faults is None:
                    raise PatternError(f"stream {self.stream.name!r}, row {place}: {error}") from None
                faults.append((place, str(error)))
        return tuple(parsed)


def announce(
    table: pa.Table, key: Sequence[str], time: str, types: Sequence[pa.DataType], faults: list[Fault] | None = None
) -> EndedKeys:
    """Rows of a separate stream of endings; what cannot be read raises, or is put into `faults`, if given."""
    schema = pa.schema(list(zip(key, types, strict=True)))
    rows = _sound_rows(table, time, schema, "endings", faults)
    return EndedKeys(
        recast(rows.table.select(list(key)), schema), pa.chunked_array([pa.array(rows.times)]), in_band=False
    )


@dataclass(frozen=True)
class _Rows:
    """Some rows of a table: their times, and their places in the table; `None` if these are all rows."""

    table: pa.Table
    times: Ints
    among: Ints | None = None

    @property
    def places(self) -> Ints:
        return np.arange(len(self.table)) if self.among is None else self.among

    def filter(self, mask: npt.NDArray[np.bool_]) -> "_Rows":
        return _Rows(self.table.filter(pa.array(mask)), self.times[mask], self.places[mask])


def _sound_rows(
    table: pa.Table, time: str, keys: pa.Schema, owner: str, faults: list[Fault] | None, among: Ints | None = None
) -> _Rows:
    """Rows that have a time, with keys in their common types; `among` are the places of all rows."""
    times, found = read_times(table[time])
    if found and faults is None:
        to_microseconds(table[time], time)  # raises, and says what to do
    for field in keys:
        places = uncastable(table[field.name], field.type)
        if places and faults is None:
            place = places[0] if among is None else int(among[places[0]])
            raise ColumnError(f"{owner}: the key in row {place} of {field.name!r} does not fit {field.type}")
        found = found + [(place, f"its key does not fit {field.type}") for place in places]
    rows = _Rows(table, times, among)
    if not found:
        return rows
    assert faults is not None
    reasons = dict(reversed(found))  # the first reason of each row
    faults += sorted((int(rows.places[place]), why) for place, why in reasons.items())
    sound = np.ones(len(table), np.bool_)
    sound[list(reasons)] = False
    return rows.filter(sound)


def _check_times(pattern: Pattern, text: str) -> None:
    for bound in bounds_of(pattern):
        if abs(bound) > LARGEST_TIME:
            raise PatternError(f"the time {bound} is beyond ±2^60 µs, in the punctuation {text!r}")
