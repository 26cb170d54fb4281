"""Random joins of hostile tables: an error of ours when the join is built, or the results of nested loops.

CI runs a few hundred cases. More of them, and others, by hand, here 100,000 in about twenty minutes on one core:

    HOSTILE_CASES=100000 HOSTILE_FIRST=1000 python -m pytest tests/hostile

A failure names the seed of its case; `HOSTILE_FIRST=<seed> HOSTILE_CASES=1` runs it again.
"""

import os
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from hostile.brute_force import python_values
from hostile.cases import Case, draw_case, names_of

CASES, FIRST = int(os.environ.get("HOSTILE_CASES", "400")), int(os.environ.get("HOSTILE_FIRST", "0"))
AT_A_TIME = 100
MOST_SHOWN = 20
# What a join that runs may say: a promise was to be fatal, or its memory was limited.
WHILE_RUNNING = (pt.PromiseBroken, pt.MemoryBudgetError)


@pytest.mark.parametrize("first", range(FIRST, FIRST + CASES, AT_A_TIME))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_foreign_error_and_no_wrong_result(first: int) -> None:
    seeds = range(first, min(first + AT_A_TIME, FIRST + CASES))
    found = [f"seed {seed}: {trouble}" for seed in seeds for trouble in _troubles(seed)]
    assert not found, "\n".join(found[:MOST_SHOWN])


def _troubles(seed: int) -> Iterator[str]:
    case = draw_case(seed)
    try:
        joined = case.build()
    except pt.PunctuatedError as refusal:
        if not str(refusal):
            yield "an error without words"
        return
    except Exception as error:
        yield _described(case, error)
        return
    try:
        yield from _wrong(case, joined)
    except WHILE_RUNNING:
        return
    except Exception as error:
        yield _described(case, error)


def _described(case: Case, error: Exception) -> str:
    ours = [
        each for each in traceback.extract_tb(error.__traceback__) if f"{os.sep}punctuated{os.sep}" in each.filename
    ]
    at = [f"{each.filename.rpartition('punctuated' + os.sep)[2]}:{each.lineno}" for each in ours[-2:]]
    return f"{type(error).__name__} {str(error)[:200]!r} at {at}, {_shown(case)}"


def _shown(case: Case) -> str:
    streams = [{**side.options, "data": side.table.schema.to_string().replace("\n", ", ")} for side in case.sides]
    return f"streams {streams}, options {case.options}"


def _wrong(case: Case, joined: pt.Join) -> Iterator[str]:
    results = joined.results
    for view in (joined.punctuations, joined.rejected, joined.all, joined.metrics):
        view.validate(full=True)
    results.validate(full=True)
    for format in ("text", "json", "svg"):
        joined.explain(format)
    yield from _wrong_groups(case, joined)
    _go_on(case, joined)
    if not case.is_known:
        return
    if joined.rejected.num_rows:
        yield f"rejected {joined.rejected.to_pylist()[:3]}, {_shown(case)}"
        return
    pairs = _pairs(case, results)
    expected = case.expected()
    if Counter(pairs) != Counter(expected):
        more, less = Counter(pairs) - Counter(expected), Counter(expected) - Counter(pairs)
        rows = [each.table.to_pylist() for each in case.sides]
        yield f"has {list(more)[:5]}, lacks {list(less)[:5]}, {_shown(case)}, {rows}"
        return
    yield from _wrong_payload(case, results, pairs)


def _go_on(case: Case, joined: pt.Join) -> None:
    """The output of a join is a stream as any other."""
    side = case.sides[1]
    try:
        third = pt.stream(side.table, key=side.options["key"], time=side.options["time"], name="third", window=5)
        chained = pt.join(joined, third, how=case.options["how"])
    except pt.PunctuatedError:
        return
    for view in (chained.results, chained.all, chained.punctuations):
        view.validate(full=True)


def _pairs(case: Case, results: pa.Table) -> list[Any]:
    ids = [
        results[name].to_pylist() if name in results.column_names else [None] * len(results) for name in ("id0", "id1")
    ]
    return list(zip(*ids, strict=True))


def _wrong_payload(case: Case, results: pa.Table, pairs: list[Any]) -> Iterator[str]:
    if "select" in case.options:
        return
    left, right = case.sides
    taken = {*names_of(left.options["key"])}
    shown_sides = [(left, "_left", {*right.payload} | taken), (right, "_right", {*left.payload} | taken)]
    if case.options["how"] in ("semi", "anti"):
        shown_sides = [(left, "_left", taken)]
    for number, (side, suffix, clashes) in enumerate(shown_sides):
        for name in side.payload:
            shown = results[name + suffix if name in clashes else name]
            values = python_values(side.table[name])
            expected = [None if pair[number] is None else values[pair[number]] for pair in pairs]
            if python_values(shown) != expected:
                yield f"column {name!r} is {shown.to_pylist()}, not {expected}, {_shown(case)}"


def _wrong_groups(case: Case, joined: pt.Join) -> Iterator[str]:
    names = joined.results.column_names
    by = names[: max(1, len(joined.spec.left.key))] if names else []
    try:
        groups = joined.group_by(by).agg(n_rows=pt.count(), some=pt.count(names[-1]))
    except pt.PunctuatedError:
        return
    rows = Counter(zip(*(python_values(joined.results[name]) for name in by), strict=True))
    keys = list(zip(*(python_values(groups[name]) for name in by), strict=True))
    if dict(zip(keys, groups["n_rows"].to_pylist(), strict=True)) != rows or len(keys) != len(rows):
        yield f"groups {groups.to_pylist()[:5]} of {list(rows.items())[:5]}, {_shown(case)}"
