"""Rows that are rejected before they come to a bucket: corrupt rows, and rows that an earlier join has rejected.

They are sent, in the form in which they are shown, to the bucket that speaks for all. A corrupt row counts as rejected
in the join that meets it; the others were counted where they were rejected.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from punctuated.join.exchange.bundle import from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.join.output.rejected import REJECTED_SCHEMA, RenderedRows

_CORRUPT, _PASSED_ON = "corrupt", "passed on"


class Rejects(NamedTuple):
    """Rows that were rejected before, and how many of each stream are corrupt."""

    rows: list[RenderedRows]
    n_corrupt: Counter[str]


def write_rejects(corrupt: pa.Table, passed_on: pa.Table | None) -> bytes:
    """Both kinds as one blob."""
    before = REJECTED_SCHEMA.empty_table() if passed_on is None else passed_on
    return pack_bundle({_CORRUPT: to_ipc(corrupt), _PASSED_ON: to_ipc(before)})


def read_rejects(blobs: Sequence[bytes]) -> Rejects:
    """All rows of the blobs, in one table if there are any."""
    written = [{kind: from_ipc(table) for kind, table in unpack_bundle(data).items()} for data in blobs]
    tables = [each[kind] for each in written for kind in (_CORRUPT, _PASSED_ON) if len(each[kind])]
    rows = [RenderedRows(pa.concat_tables(tables).combine_chunks())] if tables else []
    return Rejects(rows, Counter(name for each in written for name in each[_CORRUPT]["stream"].to_pylist()))
