"""The public names, listed: a name is added or removed here on purpose or not at all."""

import subprocess
import sys

import punctuated

METRICS = [
    "Call",
    "Counters",
    "Exporter",
    "JoinMetrics",
    "JsonLines",
    "Lines",
    "Log",
    "Prometheus",
    "RejectedRows",
    "history",
    "joins_in",
    "listen",
    "of",
]
PUBLIC = [
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


def test_the_exported_names_are_the_listed_ones() -> None:
    assert sorted(punctuated.__all__) == sorted(PUBLIC)
    assert sorted(punctuated.metrics.__all__) == sorted(METRICS)


def test_every_exported_name_exists() -> None:
    assert [name for name in punctuated.__all__ if not hasattr(punctuated, name)] == []
    assert [name for name in METRICS if not hasattr(punctuated.metrics, name)] == []


def test_pyspark_is_imported_by_those_alone_who_need_it() -> None:
    reads = "import sys, punctuated as pt; pt.metrics.of(None); pt.metrics.Prometheus('m.prom')"
    code = f"{reads}; assert not [name for name in sys.modules if name.startswith('pyspark')]"
    subprocess.run([sys.executable, "-c", code], check=True)
