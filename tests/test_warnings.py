"""A warning points at the line of the user's code that caused it, wherever in the package it arises."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated import errors
from punctuated.storage import private_folder

A = pa.table({"k": [1, 2], "ts": [5, 1], "x": [1, 2]})
B = pa.table({"k": [2, 2, 1], "at": [2, 3, 4]})
LATE = [A.slice(0, 1), A.slice(1, 1)]  # the second batch is behind the first one


def ours(data: Any = A, **options: Any) -> pt.TableStream:
    declared: dict[str, Any] = {"name": "A", "key": "k", "time": "ts", "window": 10} | options
    made: pt.TableStream = pt.stream(data, **declared)
    return made


def other(**options: Any) -> pt.TableStream:
    declared: dict[str, Any] = {"name": "B", "key": "k", "time": "at", "window": 10} | options
    made: pt.TableStream = pt.stream(B, **declared)
    return made


def do_without() -> None:
    private_folder.do_without("a test", OSError("on purpose"))


def asked(text: str, **options: Any) -> pt.SqlQuery:
    return pt.sql(text, A=ours(**options), B=other(**options))


GROUPS = "SELECT x, COUNT(*) AS n FROM A, B WHERE A.k = B.k GROUP BY x"
CAUSES: dict[str, tuple[type[Warning], Callable[[], Any]]] = {
    "join": (pt.UnboundedStateWarning, lambda: pt.join(ours(window=None), other(window=None))),
    "distinct": (pt.UnboundedStateWarning, lambda: pt.join(ours(), other()).distinct("x")),
    "groups": (pt.LateGroupsWarning, lambda: pt.join(ours(), other()).group_by("x").agg(n=pt.count())),
    "results": (pt.RejectedRowsWarning, lambda: pt.join(ours(LATE), other()).results),
    "reader": (pt.RejectedRowsWarning, lambda: pt.join(ours(LATE), other()).reader().read_all()),
    "rejected distinct": (
        pt.RejectedRowsWarning,
        lambda: pt.join(ours(LATE, punctuations=pt.unique()), other(punctuations=pt.clustered())).distinct("k"),
    ),
    "estimates": (
        pt.RejectedRowsWarning,
        lambda: (
            pt.join(ours(LATE, punctuations=pt.unique()), other(punctuations=pt.unique()), shed=pt.shed(rate=1e9))
            .group_by("k")
            .agg(n=pt.count())
        ),
    ),
    "chained": (pt.RejectedRowsWarning, lambda: pt.join(pt.stream(pt.join(ours(LATE), other())), other()).results),
    "sql join": (
        pt.UnboundedStateWarning,
        lambda: asked("SELECT A.k FROM A, B WHERE A.k = B.k", window=None).results,
    ),
    "sql groups": (pt.LateGroupsWarning, lambda: asked(GROUPS).results),
    "sql one group": (pt.LateGroupsWarning, lambda: asked("SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k").results),
    "sql results": (
        pt.RejectedRowsWarning,
        lambda: pt.sql("SELECT A.k FROM A, B WHERE A.k = B.k", A=ours(LATE), B=other()).results,
    ),
    "sql punctuations": (
        pt.UnusedPunctuationsWarning,
        lambda: pt.sql(
            "SELECT A.k FROM A, B WHERE A.x = B.k", A=ours(punctuations=pt.unique()), B=other(punctuations=pt.unique())
        ),
    ),
    "cache": (pt.CacheWarning, do_without),
}


@pytest.fixture(autouse=True)
def nothing_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_folder, "_done_without", set())


def lines_of(cause: Callable[..., Any]) -> range:
    """The lines of a function in this file."""
    lines = [line for _, _, line in cause.__code__.co_lines() if line is not None]
    return range(min(lines), max(lines) + 1)


@pytest.mark.parametrize("name", CAUSES)
def test_a_warning_points_at_the_line_that_caused_it(name: str) -> None:
    category, cause = CAUSES[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cause()
    found = [each for each in caught if each.category is category]
    assert found and {each.filename for each in found} == {__file__}
    if name != "sql join":  # whose streams and query are in a function of their own
        assert {each.lineno for each in found} <= {*lines_of(cause), *lines_of(asked)}


def test_every_category_is_caused_here_or_on_spark() -> None:
    categories = {each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Warning)}
    on_spark = {pt.MissingColumnsWarning}  # tests/spark/test_file_columns.py
    assert {category for category, _ in CAUSES.values()} == categories - on_spark


def test_only_warn_caller_warns() -> None:
    """Counted levels of the stack point at the wrong line as soon as a function is split."""
    package = Path(errors.__file__).parent
    others = [path for path in package.rglob("*.py") if path != Path(errors.__file__)]
    assert [str(path) for path in others if "warnings.warn" in path.read_text(encoding="utf-8")] == []


def test_one_group_of_all_rows_is_called_so() -> None:
    with pytest.warns(pt.LateGroupsWarning, match="one group of all rows is final only when both streams have ended"):
        _ = asked("SELECT COUNT(*) AS n FROM A, B WHERE A.k = B.k").results


SCRIPT = """
import pyarrow as pa, punctuated as pt
table = pa.table({"k": [1], "ts": [5]})
a, b = (pt.stream(table, name=name, key="k", time="ts") for name in "AB")
pt.join(a, b)
"""


def test_interactive_code_and_doctests_are_the_user() -> None:
    typed = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert typed.stderr.startswith("<string>:5: UnboundedStateWarning")
    code = compile(SCRIPT, "<doctest punctuated.api.join.join[0]>", "exec")
    with pytest.warns(pt.UnboundedStateWarning) as caught:
        exec(code, {"__name__": "punctuated.api.join"})
    assert {(each.filename, each.lineno) for each in caught} == {("<doctest punctuated.api.join.join[0]>", 5)}


@pytest.mark.parametrize("write", [lambda joined: joined.write_to(results="x"), lambda joined: pt.write_to(joined)])
def test_a_join_of_tables_says_how_to_write_it(write: Callable[[Any], Any]) -> None:
    joined = pt.join(ours(), other())
    with pytest.raises(pt.SinkError, match=r"pq\.write_table\(joined\.results, .*declare the streams over Spark"):
        write(joined)


def test_groups_of_tables_say_how_to_write_them() -> None:
    joined = pt.join(ours(punctuations=pt.unique()), other(punctuations=pt.unique()))
    groups = joined.group_by("k").agg(n=pt.count())
    with pytest.raises(pt.SinkError, match=r"pq\.write_table\(groups, "):
        pt.write_to(groups, groups="x")
