"""Tables that a step writes itself: rows go to files, and one row about each file leaves the step."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

import pandas as pd
import pyarrow as pa

from punctuated.arrow.rows import widen
from punctuated.output.batch_result import BatchResult
from punctuated.output.in_band import FILE, GROUP, PUNCTUATION, REJECTED, RESULT
from punctuated.output.views import View
from punctuated.spark.session.query import Query, Routing
from punctuated.spark.session.task import current_batch
from punctuated.spark.state.bucket import Bucket
from punctuated.spark.step.emit import Emitter, as_frames
from punctuated.storage.tables.writer import TableWriter
from punctuated.storage.tables.written_file import UNKNOWN_BATCH, OutputTable

VIEWS = {RESULT: View.RESULTS, PUNCTUATION: View.PUNCTUATIONS, REJECTED: View.REJECTED}  # by kind of rows


def emitter_of(query: Query, bucket: Bucket, number: int) -> Emitter:
    """The emitter of a bucket's output, as the query routes it."""
    if query.routing is None:
        return Emitter(query.join, bucket)
    return WritingEmitter(query, query.routing, bucket, number)


class TableWriters:
    """The tables of a query, for one attempt at one bucket; if it fails, its files are removed."""

    def __init__(self, tables: Sequence[OutputTable], bucket: int) -> None:
        current = current_batch()
        batch = UNKNOWN_BATCH if current is None else current[1]
        self._writers = {each.part: TableWriter(each, batch, bucket) for each in tables}
        self._schemas = {each.part: each.schema for each in tables}

    def write(self, part: str, tables: Sequence[pa.Table]) -> None:
        """More rows of one kind."""
        for table in tables:
            self._writers[part].write(widen(table, self._schemas[part]))

    def files(self, schema: pa.Schema) -> pa.Table:
        """Finish all files: a row of kind `file` for each of them, in these columns."""
        texts = [file.to_json() for writer in self._writers.values() for file in writer.close()]
        kind, row = schema.names[0], schema.names[-1]
        return pa.table({kind: pa.repeat(FILE, len(texts)), row: pa.array(texts, pa.string())})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for writer in self._writers.values():
                writer.abandon()


class WritingEmitter(Emitter):
    """Writes parts of the output; only the other parts leave the step as rows."""

    def __init__(self, query: Query, routing: Routing, bucket: Bucket, number: int) -> None:
        super().__init__(query.join, bucket)
        self._routing, self._writers = routing, TableWriters(routing.tables, number)
        self._views = query.join.seen_as(View.RESULTS).views

    def frames(self, part: BatchResult) -> Iterator[pd.DataFrame]:
        """The rows of the other parts, as Spark takes them."""
        for each in self._routing.tables:
            self._writers.write(each.part, self._tables_of(each.part, part))
        if self._routing.emitted:
            yield from super().frames(_only(part, self._routing.emitted))

    def last_frames(self) -> Iterator[pd.DataFrame]:
        """A row for each file that was written."""
        schema = self._join.schema
        yield from as_frames(self._writers.files(schema), schema)

    def _tables_of(self, kind: str, part: BatchResult) -> list[pa.Table]:
        if kind == GROUP:
            assert self._bucket.groups is not None
            return [self._bucket.groups.process(part)]
        return self._views.tables(VIEWS[kind], part)

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        self._writers.__exit__(kind, *more)


def _only(part: BatchResult, kinds: Sequence[str]) -> BatchResult:
    """The output without rows of other kinds."""
    if RESULT not in kinds:
        part = replace(part, results=[], result_ts=[])
    if PUNCTUATION not in kinds:
        part = replace(part, punctuations=[])
    return part if REJECTED in kinds else replace(part, rejected=[])
