"""Names of files: one that is being written has in it all that decides whether it may be removed.

Such a name is TOKEN-BATCH-BUCKET-NUMBER-ATTEMPT: the token is that of the checkpoint, the batch has the number that
Spark gives it, the same when it is repeated. Where nobody tells the worker, as over Spark Connect, that is greater than
any: then what failed attempts have left is removed when the query has stopped, and not before.
"""

import re
import uuid
from dataclasses import dataclass
from urllib.parse import quote

STAGED = "_staged"  # readers of folders leave out what begins with an underscore
UNTOLD_BATCH = 2**63 - 1
NULL_PARTITION = "__HIVE_DEFAULT_PARTITION__"
_WRITTEN = re.compile(r"(?P<token>[0-9a-f]{32})-(?P<batch>-?\d+)-.*")
_UNQUOTED = " !$&'()+,;@[]{}~"  # beside letters, digits and -._: what no reader takes for something else


@dataclass(frozen=True)
class FileNames:
    """Names of all files that one attempt at one bucket of one batch writes for one table."""

    token: str
    batch: int
    bucket: int
    attempt: str

    @staticmethod
    def of_attempt(token: str, batch: int, bucket: int) -> "FileNames":
        """Of a new attempt."""
        return FileNames(token, batch, bucket, uuid.uuid4().hex[:12])

    def nth(self, number: int) -> str:
        """The name of a file."""
        return f"{self.token}-{self.batch}-{self.bucket:04}-{number:03}-{self.attempt}"


def batch_of(name: str, token: str | None = None) -> int | None:
    """Of which batch a file is that was written for a table, by its name; None if it is not one of that token."""
    found = _WRITTEN.fullmatch(name)
    if found is None or (token is not None and found["token"] != token):
        return None
    return int(found["batch"])


def token_of(name: str) -> str | None:
    """Of which checkpoint it is."""
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
