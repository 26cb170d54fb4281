"""Streams over tables, and over the output of joins of tables: each is read batch by batch."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from punctuated.bind.sources import Announced
from punctuated.bind.streams import Stream
from punctuated.intake.reading import Reader, announce
from punctuated.local.plan import PlanSource
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.runtime.lineage import TableOrigin


@dataclass(frozen=True)
class TableStream(Stream):
    """A stream over tables; each table is a batch."""

    batches: tuple[pa.Table, ...] = field(repr=False)

    @property
    def source(self) -> PlanSource:
        """Where the tuples and endings of the stream come from, for plans."""
        return PlanSource(tuple((each.key, each.time) for each in self.declared.endings))

    def read(self, reader: Reader) -> Iterator[StreamBatch]:
        """The batches of the stream, each with the endings that are announced with it."""
        announced = [list(_announced(source, reader)) for source in self.declared.endings]
        for i in range(max(len(self.batches), *(len(batches) for batches in announced), 1)):
            batch = reader.read(self.batches[i] if i < len(self.batches) else self.batches[0].schema.empty_table())
            more = tuple(batches[i] for batches in announced if i < len(batches))
            yield replace(batch, endings=batch.endings + more)


@dataclass(frozen=True)
class ChainedTables(TableStream):
    """A stream over the results of a join of tables, or over groups of them."""

    origin: TableOrigin = field(repr=False)

    @property
    def source(self) -> PlanSource:
        """The join whose output the stream is, for plans."""
        return PlanSource(origin=self.origin.planner())

    def read(self, reader: Reader) -> Iterator[StreamBatch]:
        """The batches of the join's output."""
        return map(reader.read, self.origin.chain_batches())


def _announced(source: Announced, reader: Reader) -> Iterator[EndedKeys]:
    for table in source.data:
        yield announce(table, source.key, source.time, reader.types)
