"""Streams over tables, which come in batches, and over the results of joins of tables."""

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
    """A stream over tables, which come in batches."""

    batches: tuple[pa.Table, ...] = field(repr=False)

    @property
    def source(self) -> PlanSource:
        """For plans: where its tuples and endings come from."""
        return PlanSource(tuple((each.key, each.time) for each in self.declared.endings))

    def read(self, reader: Reader) -> Iterator[StreamBatch]:
        """The stream batch by batch, with the endings that are announced separately."""
        announced = [list(_announced(source, reader)) for source in self.declared.endings]
        for i in range(max(len(self.batches), *(len(batches) for batches in announced), 1)):
            batch = reader.read(self.batches[i] if i < len(self.batches) else self.batches[0].schema.empty_table())
            more = tuple(batches[i] for batches in announced if i < len(batches))
            yield replace(batch, endings=batch.endings + more)


@dataclass(frozen=True)
class ChainedTables(TableStream):
    """A stream over the results of a join of tables, or groups of them."""

    origin: TableOrigin = field(repr=False)

    @property
    def source(self) -> PlanSource:
        """For plans: the join behind it."""
        return PlanSource(origin=self.origin.planner())

    def read(self, reader: Reader) -> Iterator[StreamBatch]:
        """What the join brings, batch by batch."""
        return map(reader.read, self.origin.chain_batches())


def _announced(source: Announced, reader: Reader) -> Iterator[EndedKeys]:
    for table in source.data:
        yield announce(table, source.key, source.time, reader.types)
