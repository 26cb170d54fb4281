"""Rows of a stream as a batch for the driver: keys in their common type, pattern rows taken out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PatternError
from punctuated.join.intake.recast import recast
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import StreamSpec
from punctuated.model.times import to_microseconds

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Reader:
    """How the rows of one stream are read."""

    stream: StreamSpec
    pattern_column: str | None
    schema: pa.Schema  # of the tuples as they come
    types: tuple[pa.DataType, ...]  # common types of the key columns

    @property
    def cast_schema(self) -> pa.Schema:
        """The tuples' columns with keys of the common types."""
        cast = dict(zip(self.stream.key, self.types, strict=True))
        return pa.schema([pa.field(each.name, cast.get(each.name, each.type)) for each in self.schema])

    def read(self, table: pa.Table, corrupt: list[tuple[int, str]] | None = None) -> StreamBatch:
        """Tuples and punctuations of one table.

        Malformed punctuations raise, or are put into `corrupt`, if given, with their place and what is wrong.
        """
        columns = list(self.stream.columns)
        if self.pattern_column is None:
            return StreamBatch(recast(table.select(columns), self.cast_schema))
        is_row = table[self.pattern_column].is_null().to_numpy()
        places = np.flatnonzero(~is_row)
        pattern_rows = table.filter(pa.array(~is_row))
        keys = self._single_values(pattern_rows)
        is_single = keys.is_valid().to_numpy(zero_copy_only=False)
        others = np.flatnonzero(~is_single)
        times = to_microseconds(pattern_rows[self.stream.time], self.stream.time)
        endings: tuple[EndedKeys, ...] = ()
        if is_single.any():
            named = pa.table([keys.drop_null().cast(self.types[0])], names=[self.stream.key[0]])
            endings = (EndedKeys(named, pa.chunked_array([pa.array(times[is_single])]), in_band=True),)
        return StreamBatch(
            rows=recast(table.filter(pa.array(is_row)).select(columns), self.cast_schema),
            endings=endings,
            punctuations=self._parse(pattern_rows.take(pa.array(others)), times[others], places[others], corrupt),
        )

    def passed_on(self, table: pa.Table) -> list[tuple[str, str, int | None, str]]:
        """Tuples that were rejected before they came here: stream, reason, time in microseconds, row."""
        return []

    def _single_values(self, pattern_rows: pa.Table) -> pa.Array:
        """The integers in punctuations that name one integer key and nothing else; null for all others.

        These are by far the most frequent, and reading them one by one would take longer than the join.
        """
        key, columns = self.stream.key, self.stream.columns
        texts = pattern_rows[self.pattern_column].cast(pa.string()).combine_chunks()
        if len(key) != 1 or not pa.types.is_integer(self.schema.field(key[0]).type):
            return pa.nulls(len(texts), pa.int64())
        attributes = (r"(?P<key>-?[0-9]{1,18})" if name == key[0] else r"\*" for name in columns)
        found = pc.extract_regex(texts, r"^\s*<\s*" + r"\s*,\s*".join(attributes) + r"\s*>\s*$")
        return pc.struct_field(found, "key").cast(pa.int64()) if len(texts) else pa.nulls(0, pa.int64())

    def _parse(
        self, pattern_rows: pa.Table, times: Ints, places: Ints, corrupt: list[tuple[int, str]] | None
    ) -> tuple[Punctuation, ...]:
        types = [self.schema.field(name).type for name in self.stream.columns]
        texts = pattern_rows[self.pattern_column].to_pylist()
        parsed = []
        for text, ts, place in zip(texts, times.tolist(), places.tolist(), strict=True):
            try:
                parsed.append(Punctuation(ts, parse_punctuation(text, types)))
            except PatternError as error:
                if corrupt is None:
                    raise PatternError(f"stream {self.stream.name!r}, row {place}: {error}") from None
                corrupt.append((place, str(error)))
        return tuple(parsed)


def announce(table: pa.Table, key: Sequence[str], time: str, types: Sequence[pa.DataType]) -> EndedKeys:
    """Rows of a separate stream of endings."""
    keys = recast(table.select(list(key)), pa.schema(list(zip(key, types, strict=True))))
    times = pa.chunked_array([pa.array(to_microseconds(table[time], time))])
    return EndedKeys(keys, times, in_band=False)
