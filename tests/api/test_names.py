"""No name of a user's column matters: whatever it is called and whatever it is for, every view brings the same."""

import json
import warnings
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.output.in_band import InBand

SEEN = (*InBand(), "ts", "reason", "pattern", "stream", "row", "_metrics", "_batch_us", "batch_id")
UNSEEN = ("bucket", "side", "data", "ended", "_packed", "_stored", "_p", "_until", "group", "tuple", "share", "total")
ODD = ("_KIND", "", " ", "a.b", "`", "c0", "more0", "n_error", "\n")
NAMES = (*SEEN, *UNSEEN, *ODD)
PLAIN = {"key": "the key", "time": "the time", "payload": "the payload"}  # names that nobody else has
ROLES = tuple(PLAIN)
Rows = list[tuple[Any, ...]]


def declare(names: dict[str, str]) -> tuple[Any, Any]:
    """Two streams whose left one has these names; some of its tuples break promises."""
    values = {"key": [1, 2, 1, 3], "time": [0, 1, 5, 6], "payload": ["a", "b", "c", None]}
    left = pa.table([values[role] for role in ROLES], names=[names[role] for role in ROLES])
    right = pa.table({"right key": [1, 2, 2, 3], "at": [2, 3, 4, 7], "last": [True, False, True, True], "v": range(4)})
    return (
        pt.stream(left, name="A", key=names["key"], time=names["time"], window=50, punctuations=pt.unique()),
        pt.stream(right, name="B", key="right key", time="at", window=50, punctuations=pt.when("last")),
    )


def views(names: dict[str, str]) -> dict[str, pa.Table]:
    joined = pt.join(*declare(names))
    key, payload = names["key"], names["payload"]
    sheds = pt.join(*declare(names), shed=pt.shed(rate=1e9))
    third = pa.table({"third key": [1, 2], "third": [3, 4]})
    third = pt.stream(third, name="C", key="third key", time="third", window=9)
    chained = pt.join(pt.stream(joined, window=9), third)
    return {
        "results": joined.results,
        "punctuations": joined.punctuations,
        "all": joined.all,
        "groups": joined.group_by(key).agg(n=pt.count(), f=pt.first(payload), l=pt.last(payload), m=pt.max(payload)),
        "estimates": sheds.group_by(key).agg(n=pt.count(), known=pt.count(payload)),
        "chained": chained.results,
        "chained punctuations": chained.punctuations,
        "groups of the chained": chained.group_by(key).agg(n=pt.count(), l=pt.last(payload)),
    }


def rows_of(table: pa.Table) -> Rows:
    """By place; rejected rows, which tell names, by their values."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [tuple(map(_without_names, row)) for row in rows]


def _without_names(value: Any) -> Any:
    return list(json.loads(value).values()) if isinstance(value, str) and value.startswith("{") else value


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    EXPECTED = {view: rows_of(table) for view, table in views(PLAIN).items()}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", NAMES)
def test_a_column_may_have_any_name(name: str, role: str) -> None:
    found = views(PLAIN | {role: name})
    assert {view: rows_of(table) for view, table in found.items()} == EXPECTED
    for table in found.values():
        assert len({column.casefold() for column in table.column_names}) == table.num_columns


def test_columns_of_ours_give_way_and_no_others() -> None:
    joined = pt.join(*declare({"key": "reason", "time": "_ts", "payload": "_Kind"}))
    assert joined.punctuations.column_names == ["reason", "ts", "reason_", "pattern"]
    results = ["reason", "_ts", "_Kind", "at", "last", "v"]
    assert joined.all.column_names == ["_kind_", "_ts_", *results, "_stream", "_reason", "_pattern", "_row"]
    assert joined.rejected.column_names == ["stream", "reason", "ts", "row"]


def test_hidden_names_are_refused() -> None:
    with pytest.raises(pt.ColumnError, match="NUL"):
        declare(PLAIN | {"payload": "\0ts"})
