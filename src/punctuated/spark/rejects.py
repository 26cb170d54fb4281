"""Rows that are rejected before they come to a bucket: corrupt ones, and those that an earlier join has rejected.

They travel as JSON to the bucket that speaks for all. A corrupt row counts as rejected in the join that meets it; the
others have been counted where they were rejected.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from punctuated.join.output.views import REJECTED_SCHEMA

Reject = tuple[str, str, int | None, str]  # stream, reason, time in microseconds, row


class Rejects(NamedTuple):
    """Rows that were rejected before, and how many of each stream are corrupt."""

    tables: list[pa.Table]
    n_corrupt: Counter[str]


def write_rejects(corrupt: Sequence[Reject], passed_on: Sequence[Reject]) -> bytes:
    """Both kinds as one blob."""
    return json.dumps({"corrupt": corrupt, "passed on": passed_on}).encode()


def read_rejects(blobs: Sequence[bytes]) -> Rejects:
    """All rows of the blobs, in one table if there are any."""
    written = [json.loads(data) for data in blobs]
    rows = [row for each in written for kind in each.values() for row in kind]
    named = [dict(zip(REJECTED_SCHEMA.names, row, strict=True)) for row in rows]
    tables = [pa.Table.from_pylist(named, schema=REJECTED_SCHEMA)] if named else []
    return Rejects(tables, Counter(row[0] for each in written for row in each["corrupt"]))
