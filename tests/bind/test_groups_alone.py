"""If nobody sees the results, they have only the columns that their groups need; the groups are the same."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.bind.bound_join import BoundJoin
from punctuated.operator.driver import JoinDriver
from punctuated.output.views import View

LEFT = pa.table({"k": [1, 2, 3, None], "ts": [0, 1, 2, 3], "v": [5, 6, 7, 8], "t": ["a", "b", "c", "d"]})
RIGHT = pa.table({"k": [1, 1, 3, 4], "at": [4, 5, 6, 7], "x": [1.5, 2.5, None, 0.5], "w": [True] * 4})
THIRD = pa.table({"k": [1, 3], "on": [8, 9], "y": [7, 9]})


def joined(n_streams: int = 2, **how: Any) -> Any:
    times = zip("ABC", (LEFT, RIGHT, THIRD), ("ts", "at", "on"), strict=True)
    windows: dict[str, Any] = {} if n_streams > 2 else {"window": 100}
    streams = [pt.stream(each, name=name, key="k", time=time, **windows) for name, each, time in times]
    return pt.join(*streams[:n_streams], **how)


def groups_of(join: Any, bound: BoundJoin, driver: JoinDriver) -> Counter[str]:
    groups = bound.groups()
    outputs = [*(driver.process(*batches) for batches in join.batches), driver.end()]
    return Counter(repr(row) for output in outputs for row in groups.process(output).to_pylist())


@pytest.mark.filterwarnings("ignore::punctuated.LateGroupsWarning")
@pytest.mark.parametrize(
    ("join", "by", "column", "left"),
    [
        (joined(), "k", "x", ["k", "x"]),
        (joined(), "t", "v", ["k", "v", "t"]),
        (joined(how="full"), "k", "x", ["k", "x"]),
        (joined(how="semi"), "k", "v", ["k", "v"]),
        (joined(where=pt.left("v") > 5), "k", "x", ["k", "x"]),
        (joined(3, within=100), "k", "C_y", ["k", "C_y"]),
    ],
    ids=["inner", "by a payload column", "full", "semi", "with a predicate", "three streams"],
)
def test_only_what_groups_need_is_made(join: Any, by: str, column: str, left: list[str]) -> None:
    bound = join.bound.group_by((by,), {"n": pt.count(), "highest": pt.max(column)})
    alone = bound.driver(groups_alone=True)
    assert alone.collector.schema.names == left
    assert groups_of(join, bound, alone) == groups_of(join, bound, bound.driver())
    assert alone.fingerprint == bound.driver().fingerprint  # a checkpoint goes on either way


@pytest.mark.filterwarnings("ignore::punctuated.LateGroupsWarning")
def test_ordered_aggregates_and_computed_results_need_all_columns() -> None:
    whole = joined().bound
    first = whole.group_by(("k",), {"first": pt.first("x")})
    computed = joined(select={"k": "k", "double": pt.column("x") * 2}).bound
    sums = computed.group_by(("k",), {"sum": pt.sum("double")})
    for bound in (whole.seen_as(View.RESULTS), first, sums):
        assert bound.driver(groups_alone=True).collector.schema == bound.driver().collector.schema
