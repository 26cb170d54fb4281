"""Rows that are rejected before they come to a bucket: corrupt ones, and those that an earlier join has rejected.

They travel as JSON to the bucket that speaks for all. A corrupt row counts as rejected in the join that meets it; the
others have been counted where they were rejected.
"""

import json
from collections.abc import Sequence

import pyarrow as pa

from punctuated.join.output.collector import REJECTED_SCHEMA

Reject = tuple[str, str, int | None, str]  # stream, reason, time in microseconds, row


def write_rejects(corrupt: Sequence[Reject], passed_on: Sequence[Reject]) -> bytes:
    """Both kinds as one blob."""
    return json.dumps({"corrupt": corrupt, "passed on": passed_on}).encode()


def n_corrupt(blobs: Sequence[bytes]) -> int:
    """How many corrupt rows the blobs hold."""
    return sum(len(json.loads(data)["corrupt"]) for data in blobs)


def read_rejects(blobs: Sequence[bytes]) -> list[pa.Table]:
    """All rows of the blobs in one table, if there are any."""
    written = [rows for data in blobs for rows in json.loads(data).values()]
    rows = [dict(zip(REJECTED_SCHEMA.names, row, strict=True)) for part in written for row in part]
    return [pa.Table.from_pylist(rows, schema=REJECTED_SCHEMA)] if rows else []
