"""The public names, listed: a name is added or removed here on purpose or not at all."""

import punctuated

PUBLIC = [
    "AggregateError",
    "AlgorithmError",
    "ColumnError",
    "Join",
    "LateGroupsWarning",
    "MemoryBudgetError",
    "PatternError",
    "PredicateError",
    "PromiseBroken",
    "PunctuatedError",
    "SessionError",
    "SnapshotError",
    "Stream",
    "StreamError",
    "UnboundedStateWarning",
    "WindowError",
    "__version__",
    "between",
    "clustered",
    "configure",
    "count",
    "endings",
    "first",
    "join",
    "last",
    "left",
    "max",
    "mean",
    "min",
    "register_source",
    "right",
    "rows",
    "rows_with",
    "stream",
    "streams",
    "sum",
    "unique",
    "when",
]


def test_the_exported_names_are_the_listed_ones() -> None:
    assert sorted(punctuated.__all__) == sorted(PUBLIC)


def test_every_exported_name_exists() -> None:
    assert [name for name in punctuated.__all__ if not hasattr(punctuated, name)] == []
