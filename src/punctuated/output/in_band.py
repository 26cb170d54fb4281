"""The columns beside those of the results in the views `all` and `chain`, which hold rows of several kinds."""

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.model.arguments import free_names

RESULT, PUNCTUATION, REJECTED, PROGRESS, END = "result", "punctuation", "rejected", "watermark", "end"  # kinds
GROUP, FILE = "group", "file"  # rows that are never in band; and a file that holds rows of another kind


class InBand(NamedTuple):
    """The names of these columns; if the results use such a name, they get another one.

    >>> InBand.beside(["k", "_ts"]).time
    '_ts_'
    """

    kind: str = "_kind"
    time: str = "_ts"
    stream: str = "_stream"
    reason: str = "_reason"
    pattern: str = "_pattern"
    row: str = "_row"
    watermark: str = "_watermark"

    @staticmethod
    def beside(results: Iterable[str]) -> "InBand":
        """The names beside columns of these names."""
        return InBand(*free_names(InBand(), results))

    @property
    def of_punctuations(self) -> tuple[str, ...]:
        """The columns of a punctuation after its key."""
        return self.time, self.reason, self.pattern

    @property
    def of_rejected(self) -> tuple[str, ...]:
        """The columns of a rejected tuple, in the order of `REJECTED_SCHEMA`."""
        return self.stream, self.reason, self.time, self.row

    def of_kind(self, table: pa.Table, kind: str) -> pa.Table:
        """The rows of one kind."""
        return table.filter(pc.equal(table[self.kind], kind))

    def is_end(self, table: pa.Table) -> bool:
        """Whether the table says that all streams of the join have ended."""
        return bool(pc.any(pc.equal(table[self.kind], END), min_count=0).as_py())
