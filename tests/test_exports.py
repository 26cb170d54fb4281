"""The public names, listed: a name is added or removed here on purpose or not at all."""

import punctuated

PUBLIC = [
    "AggregateError",
    "AlgorithmError",
    "ColumnError",
    "CostError",
    "Join",
    "LateGroupsWarning",
    "MemoryBudgetError",
    "PatternError",
    "PredicateError",
    "PromiseBroken",
    "PunctuatedError",
    "SessionError",
    "ShedError",
    "SnapshotError",
    "Stream",
    "StreamError",
    "UnboundedStateWarning",
    "WindowError",
    "__version__",
    "band",
    "between",
    "clustered",
    "configure",
    "cost",
    "count",
    "endings",
    "first",
    "join",
    "last",
    "left",
    "max",
    "mean",
    "metrics",
    "min",
    "register_source",
    "right",
    "rows",
    "rows_with",
    "shed",
    "stream",
    "streams",
    "sum",
    "unique",
    "warm_up",
    "when",
]


def test_the_exported_names_are_the_listed_ones() -> None:
    assert sorted(punctuated.__all__) == sorted(PUBLIC)


def test_every_exported_name_exists() -> None:
    assert [name for name in punctuated.__all__ if not hasattr(punctuated, name)] == []
