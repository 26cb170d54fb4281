"""Files between the worker that writes them and the driver that makes them visible: their names, and what both know.

The name of a file says whether it may be removed, so that what failed attempts have left can be found. It is
TOKEN-BATCH-BUCKET-NUMBER-ATTEMPT: the token of the checkpoint, and the number that Spark gives the batch, the same when
the batch is repeated. A worker over Spark Connect does not know the batch and takes a number greater than any: what
failed attempts have left is then removed when the query has stopped, and not before.
"""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from urllib.parse import quote

import pyarrow as pa

from punctuated.storage.tables.sink import TableSink

STAGED = "_staged"  # readers of folders leave out what begins with an underscore
UNKNOWN_BATCH = 2**63 - 1
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_WRITTEN = re.compile(r"(?P<token>[0-9a-f]{32})-(?P<batch>-?\d+)-.*")
_UNQUOTED = " !$&'()+,;@[]{}~"  # beside letters, digits and -._: characters without a meaning of their own
Partition = tuple[tuple[str, str | None], ...]  # column and value as text, in the order of the columns


# Names


@dataclass(frozen=True)
class FileNames:
    """The names of all files that one attempt at one bucket of one batch writes for one table."""

    token: str
    batch: int
    bucket: int
    attempt: str

    @staticmethod
    def of_attempt(token: str, batch: int, bucket: int) -> "FileNames":
        return FileNames(token, batch, bucket, uuid.uuid4().hex[:12])

    def nth(self, number: int) -> str:
        """The name of the file with this number."""
        return f"{self.token}-{self.batch}-{self.bucket:04}-{number:03}-{self.attempt}"


def batch_of(name: str, token: str | None = None) -> int | None:
    """The batch of a file by its name; None if no writer named it, or one with another token."""
    found = _WRITTEN.fullmatch(name)
    if found is None or (token is not None and found["token"] != token):
        return None
    return int(found["batch"])


def token_of(name: str) -> str | None:
    """The token of the checkpoint in the name of a file; None if no writer named it."""
    found = _WRITTEN.fullmatch(name)
    return None if found is None else found["token"]


def partition_folder(column: str, value: str | None) -> str:
    """The folder of a value of a partition column, as Hive names it; an empty text counts as null there.

    >>> partition_folder("a day", "2020/1"), partition_folder("day", None)
    ('a day=2020%2F1', 'day=__HIVE_DEFAULT_PARTITION__')
    """
    return f"{_quoted(column)}={_quoted(value) if value else NULL_PARTITION}"


def _quoted(text: str) -> str:
    return quote(text, safe=_UNQUOTED)


# What worker and driver know


@dataclass(frozen=True)
class OutputTable:
    """What a worker must know of a table that it writes: whose rows, where they go, and their columns."""

    part: str  # of the output, by the kind of its rows
    sink: TableSink
    token: str  # of the checkpoint
    schema: pa.Schema
    metadata: Mapping[str, str] = field(default_factory=dict)  # of each file


@dataclass(frozen=True)
class WrittenFile:
    """What the driver must know of a file to make it visible."""

    part: str  # of the output, by the kind of its rows
    name: str
    bucket: int
    number: int  # among the files of its bucket
    n_rows: int
    n_bytes: int
    partition: Partition
    stats: str  # of its columns, as a Delta table stores them

    def to_json(self) -> str:
        """The file as text, which Spark can carry in a row."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "WrittenFile":
        """The file from its text."""
        fields = json.loads(text)
        partition = tuple((name, value) for name, value in fields.pop("partition"))
        return WrittenFile(**fields, partition=partition)
