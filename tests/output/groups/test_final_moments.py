"""The moments at which groups become final, against what the oracle's output says."""

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import new_driver
from punctuated.model.aggregate import Aggregate
from punctuated.model.spec import JoinSpec
from punctuated.output.groups.group_by import GroupBy
from punctuated.testing import reference
from punctuated.testing.reference_patterns import matches_all
from punctuated.testing.strategies import Batch, HonestCase, cases, honest_cases
from punctuated.testing.tables import as_batch

COUNT = {"n": Aggregate("count")}
Moments = list[Counter[Any]]


def moments(spec: JoinSpec, batches: list[Batch], by: list[str], restored: bool = False) -> Moments:
    """The groups that each batch brings as a stream, with their times; perhaps saved and loaded after each batch."""
    driver = new_driver(spec)

    def fresh() -> GroupBy:
        return GroupBy(driver.collector.schema, by, spec.left.key, COUNT, timed=True)

    groups, found = fresh(), []
    outputs = [driver.process(as_batch(spec.left, left), as_batch(spec.right, right)) for left, right in batches]
    for output in [*outputs, driver.end()]:
        told = groups.as_results(output)
        rows = [tuple(row.values()) for table in told.results for row in table.to_pylist()]
        times = [ts for each in told.result_ts for ts in each.tolist()]
        found.append(Counter(zip(rows, times, strict=True)))
        if restored:
            saved, groups = groups.save(), fresh()
            groups.load(saved)
    return found


def expected(spec: JoinSpec, batches: list[Batch]) -> Moments:
    """Groups by the key: its punctuation's time, but not before its results or what the output has said to be past."""
    open_groups: dict[Any, list[int]] = {}
    reached, found = -(2**62), []
    whole = reference.Reference(spec)
    for batch in [*batches, None]:
        output = whole.end() if batch is None else whole.process(*batch)
        rows = [*zip(output.results, output.result_ts, strict=True)]
        rows += [((u.row, None) if u.side == 0 else (None, u.row), u.ts) for u in output.unmatched]
        for (left, right), ts in rows:
            row = left if left is not None else right
            assert row is not None
            open_groups.setdefault(row.values[0], []).append(ts)
        final = Counter[Any]()
        for key, times in list(open_groups.items()):
            told = [
                p.ts
                for p in output.punctuations
                if key is not None and (p.key == (key,) or (p.patterns is not None and matches_all(p.patterns, (key,))))
            ]
            if not told and output.watermark == math.inf:
                told = [horizon(whole)]
            if told:
                final[(key, len(times)), max(*told, *times, reached)] += 1
                del open_groups[key]
        found.append(final)
        watermark = output.watermark
        reached = max(reached, -(2**62) if watermark is None else int(min(watermark, 2**62)))
    return found


def horizon(whole: reference.Reference) -> int:
    """The latest time that either stream has told of."""
    known = [stream.newest for stream in whole.streams if stream.newest is not None]
    return max(known + [int(stream.floor) for stream in whole.streams if not math.isinf(stream.floor)])


@given(cases())
def test_moments_are_those_of_the_output(case: Any) -> None:
    assert moments(case.spec, case.batches, ["k"]) == expected(case.spec, case.batches)


@pytest.mark.parametrize("by", [["k"], ["k", "v"]])
@given(st.data())
def test_moments_survive_in_the_state(by: list[str], data: st.DataObject) -> None:
    case = data.draw(cases())
    assert moments(case.spec, case.batches, by, restored=True) == moments(case.spec, case.batches, by)


@given(honest_cases(prompt=True, counts=False, disorder=False), st.lists(st.integers(0, 24), max_size=6))
def test_moments_do_not_depend_on_cuts(case: HonestCase, cuts: list[int]) -> None:
    """But for values under a range: which of them come out one by one, and so earlier, does."""
    one, two = (sum(moments(case.spec, case.cut(each), ["k"]), Counter[Any]()) for each in ([], cuts))
    under = {group for group, _ in one if case.is_under_a_range(group[0])}
    assert {each: n for each, n in one.items() if each[0] not in under} == {
        each: n for each, n in two.items() if each[0] not in under
    }
    assert Counter(group for group, _ in one.elements()) == Counter(group for group, _ in two.elements())
