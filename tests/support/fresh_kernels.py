"""Does a join compile anything after its kernels were loaded? Run in a new process, with an empty folder for code.

    NUMBA_CACHE_DIR=EMPTY python tests/support/fresh_kernels.py aggregates | exchange | TWO_STREAMS | …

Prints what was compiled too late, with the types of its arguments. An argument in capitals is a member of
`Kernels`: the joins of its kind.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.kernels.code_cache import CodeCache
from punctuated.model.aggregate import AGGREGATES, Aggregate, Takes
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.group_by import GroupBy
from punctuated.output.groups.grouping import Grouping
from punctuated.runtime.kernel_groups import Kernels, deal, kernels_of, run_small_join, small_spec
from punctuated.runtime.warm_up import compile_all

_N = 50
_NUMBERS = ("whole", "small", "real", "half", "money")


@contextmanager
def compiled_late() -> Iterator[list[str]]:
    """What is compiled inside."""
    found, save = list[str](), CodeCache.save_overload

    def note(cache: Any, sig: Any, data: Any) -> None:
        found.append(f"{cache._name} of {sig}")
        save(cache, sig, data)

    with patch.object(CodeCache, "save_overload", note):
        yield found


def results(n: int) -> pa.Table:
    """Results of a join with columns of many types, some with nulls."""
    numbers = [None if i % 7 == 3 else i - 20 for i in range(n)]
    columns = {
        "key": pa.array([i % 5 for i in range(n)]),
        "name": pa.array([None if i % 4 == 3 else f"n{i % 4}" for i in range(n)]),
        "whole": pa.array(numbers, pa.int64()),
        "small": pa.array([i % 100 for i in range(n)], pa.uint8()),
        "real": pa.array([None if i is None else i / 7 for i in numbers], pa.float64()),
        "half": pa.array([i / 8 for i in range(n)], pa.float32()),
        "money": pa.array([None if i is None else Decimal(i) / 4 for i in numbers], pa.decimal128(12, 2)),
    }
    return pa.table(columns)


def groupings(names: Sequence[str]) -> Iterator[Grouping]:
    """These aggregates of columns of all types that they take, by columns of both kinds."""
    for by in (("key",), ("name",), ("key", "name")):
        for column in (*_NUMBERS, "name"):
            taken = [each for each in names if column != "name" or AGGREGATES[each].takes is not Takes.NUMBERS]
            if taken:
                yield Grouping(by, {name: Aggregate(name, column) for name in taken})


def run_groups(names: Sequence[str]) -> None:
    """Groups in two batches, saved and loaded between them."""
    rows, ts = results(_N), np.arange(_N)
    for each in groupings(names):
        first, second = (GroupBy(rows.schema, each.by, ["key"], each.aggregates) for _ in range(2))
        first.process(BatchResult([rows], [ts]))
        second.load(first.save())
        found = second.process(BatchResult([rows], [ts], ended=True))
        assert len(found), each


def run_all_aggregates() -> list[str]:
    """Aggregates that say that they need no sums come first: one that forgets to say so compiles sums."""
    found, alone = list[str](), small_spec(Kernels.TWO_STREAMS)
    for needs_sums in (False, True):
        names = [name for name, each in AGGREGATES.items() if each.needs_sums == needs_sums]
        grouping = Grouping(("key",), {name: Aggregate(name, "real") for name in names})
        compile_all(tuple(each for each in kernels_of(alone, grouping) if each not in kernels_of(alone)))
        with compiled_late() as late:
            run_groups(names)
        found += late
    return found


def run_joins(kernels: Kernels) -> list[str]:
    """Joins of one kind, in buckets, saved and restored, and of two streams as users write them."""
    compile_all(kernels_of(small_spec(kernels)))
    with compiled_late() as late:
        run_small_join(kernels)
        if kernels is Kernels.TWO_STREAMS:
            run_public_join()
    return late


def run_public_join() -> None:
    """A join over tables by `pt.join`, with punctuations from constraints and flags, and with unmatched rows."""
    left = pa.table({"k": range(6), "ts": range(6)})
    ours = pt.stream(left, name="A", key="k", time="ts", window=20, punctuations=pt.unique())
    right = pa.table({"k": range(9), "at": range(9), "last": [i % 2 == 0 for i in range(9)]})
    other = pt.stream(right, name="B", key="k", time="at", window=20, punctuations=pt.when("last"))
    joined = pt.join(ours, other, how="full")
    assert len(joined.results) and len(joined.punctuations)


def run_exchange() -> list[str]:
    """Rows go to several buckets, by keys of all kinds."""
    compile_all((Kernels.EXCHANGE,))
    with compiled_late() as late:
        for key_type in (pa.int64(), pa.int32(), pa.string(), pa.timestamp("us"), pa.float64()):
            deal(key_type)
    return late


if __name__ == "__main__":
    what = sys.argv[1]
    checks = {"aggregates": run_all_aggregates, "exchange": run_exchange}
    too_late = checks[what]() if what in checks else run_joins(Kernels[what])
    print("\n".join(too_late))
    sys.exit(1 if too_late else 0)
