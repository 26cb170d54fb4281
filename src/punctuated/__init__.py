"""Punctuated: stream joins that know when a key is done.

import punctuated as pt

auctions = pt.stream(auction_table, name="A", key="item_id", time="opened_at",
                         window="12 hours", punctuations=pt.unique())
bids = pt.stream(bid_table, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed"))
counts = pt.join(auctions, bids).group_by("item_id").agg(n=pt.count())
"""

import punctuated.address_space  # noqa: F401  (first of all: Arrow is imported by the others)

# isort: split
from importlib.metadata import PackageNotFoundError, version

from punctuated import streams
from punctuated.api import metrics
from punctuated.api.engine import configure, register_source, warm_up, write_to
from punctuated.api.explain import explain
from punctuated.api.files import files
from punctuated.api.join import join, path
from punctuated.api.joined import Grouped, Joined
from punctuated.api.stream import SparkStream, stream
from punctuated.api.union import only, union
from punctuated.bind.sources import clustered, endings, rows_with, unique, when
from punctuated.bind.streams import Stream
from punctuated.errors import (
    AggregateError,
    AlgorithmError,
    CacheWarning,
    ColumnError,
    CostError,
    ExplainError,
    FileError,
    LateGroupsWarning,
    MemoryBudgetError,
    MissingColumnsWarning,
    PatternError,
    PredicateError,
    PromiseBroken,
    PunctuatedError,
    RejectedRowsWarning,
    ScratchError,
    SessionError,
    ShedError,
    SinkError,
    SnapshotError,
    StreamError,
    UnboundedStateWarning,
    UnusedPunctuationsWarning,
    WindowError,
)
from punctuated.expressions.builders import band, call, case, column, left, right
from punctuated.local.join import Join
from punctuated.local.streams import TableStream
from punctuated.model.aggregate import count, first, last, max, mean, min, stddev, sum, variance
from punctuated.model.policy import Event, Policy
from punctuated.model.shed import shed
from punctuated.model.window import between, rows, until
from punctuated.plan import cost
from punctuated.sql.bind.query import SqlQuery, sql
from punctuated.sql.parse.errors import SqlError
from punctuated.storage.tables.sink import TableSink, delta, parquet

try:
    __version__ = version("punctuated")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"

__all__ = [
    "AggregateError",
    "AlgorithmError",
    "CacheWarning",
    "ColumnError",
    "CostError",
    "Event",
    "ExplainError",
    "FileError",
    "Grouped",
    "Join",
    "Joined",
    "LateGroupsWarning",
    "MemoryBudgetError",
    "MissingColumnsWarning",
    "PatternError",
    "Policy",
    "PredicateError",
    "PromiseBroken",
    "PunctuatedError",
    "RejectedRowsWarning",
    "ScratchError",
    "SessionError",
    "ShedError",
    "SinkError",
    "SnapshotError",
    "SparkStream",
    "SqlError",
    "SqlQuery",
    "Stream",
    "StreamError",
    "TableSink",
    "TableStream",
    "UnboundedStateWarning",
    "UnusedPunctuationsWarning",
    "WindowError",
    "__version__",
    "band",
    "between",
    "call",
    "case",
    "clustered",
    "column",
    "configure",
    "cost",
    "count",
    "delta",
    "endings",
    "explain",
    "files",
    "first",
    "join",
    "last",
    "left",
    "max",
    "mean",
    "metrics",
    "min",
    "only",
    "parquet",
    "path",
    "register_source",
    "right",
    "rows",
    "rows_with",
    "shed",
    "sql",
    "stddev",
    "stream",
    "streams",
    "sum",
    "union",
    "unique",
    "until",
    "variance",
    "warm_up",
    "when",
    "write_to",
]
