"""Joins in stages over tables: with little memory and much, with all that `pt.join` can do, and with damaged files."""

import gc
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.errors import ScratchError
from punctuated.storage.scratch import VARIABLE

N = 600  # tuples per stream
RNG = np.random.default_rng(7)


def table(payload: str) -> pa.Table:
    keys = RNG.integers(0, 40, N)
    return pa.table({"k": keys, "ts": np.sort(RNG.integers(0, 9_000, N)), payload: np.arange(N)})


A, B = table("v"), table("w")
ENDS = pa.table({"k": np.arange(40), "at": np.full(40, 9_000)})


def streams(**columns: Any) -> list[pt.TableStream]:
    """Both streams cut into batches, some of which bring nothing; A says at its end what is over."""
    declared = []
    for name, whole in (("A", A), ("B", B)):
        for column, dtype in columns.items():
            place = whole.schema.get_field_index(column)
            whole = whole.set_column(place, column, whole[column].cast(dtype))
        parts = [whole.slice(start, 120) for start in range(0, N, 120)]
        batches = [part for each in parts for part in (each, each.slice(0, 0))]
        said = pt.endings(ENDS.set_column(0, "k", ENDS["k"].cast(columns.get("k", pa.int64()))), key="k", time="at")
        declared.append(pt.stream(batches, name=name, key="k", time="ts", punctuations=said))
    return declared


def pairs(joined: Any) -> Counter[Any]:
    found = joined.results
    return Counter(zip(found["v"].to_pylist(), found["w"].to_pylist(), strict=True))


@cache
def expected() -> Counter[Any]:
    """The pairs, by a join that has memory for all."""
    return pairs(pt.join(*streams(), algorithm="pjoin"))


POLICY = pt.Policy(disk_join_after="500 us")


@pytest.mark.parametrize("algorithm", ["xjoin", "pjoin"])
@pytest.mark.parametrize("memory", [2 * N // 100, 2 * N // 10, 2 * N, "64 KiB"], ids=str)
@pytest.mark.parametrize("key", [pa.int64(), pa.string()], ids=str)
def test_all_pairs_come_out_once(algorithm: str, memory: int | str, key: pa.DataType) -> None:
    joined = pt.join(*streams(k=key), algorithm=algorithm, memory=memory, policy=POLICY)
    assert pairs(joined) == expected()
    if algorithm == "pjoin":
        assert sorted(map(int, joined.punctuations["k"].to_pylist())) == list(range(40))


def test_memory_holds_no_more_than_it_may() -> None:
    joined = pt.join(*streams(), algorithm="xjoin", memory=50, sample_every="100 us")
    held = joined.metrics.to_pandas()[["state_left", "state_right"]].sum(axis=1)
    assert 0 < held.max() <= 50


def test_predicates_selections_and_groups_know_nothing_of_stages() -> None:
    where = pt.left("v") < pt.right("w")
    whole = pt.join(*streams(), algorithm="pjoin", where=where, select=["w"])
    staged = pt.join(*streams(), algorithm="pjoin", where=where, select=["w"], memory=60, policy=POLICY)
    assert sorted(staged.results["w"].to_pylist()) == sorted(whole.results["w"].to_pylist())
    counted = [joined.group_by("k").agg(n=pt.count()) for joined in (whole, staged)]
    assert sorted(map(str, counted[0].to_pylist())) == sorted(map(str, counted[1].to_pylist()))


def test_results_that_come_late_are_not_late_for_the_next_join() -> None:
    staged = pt.join(*streams(), algorithm="pjoin", memory=60, policy=POLICY)
    names = pa.table({"k": np.arange(40), "at": np.zeros(40, np.int64)})
    known = pt.stream(names, name="names", key="k", time="at", window="1 hour", punctuations=pt.unique())
    chained = pt.join(staged, known)
    assert len(chained.results) == expected().total()


def test_ranges_are_propagated_as_wholes() -> None:
    said = pa.table({"k": [9] * 2, "ts": [5, 9_500], "v": [0] * 2, "p": ["<[100,200],*,*>", "<[0,19],*,*>"]})
    left = pa.concat_tables([A.append_column("p", pa.nulls(N, pa.string())), said]).sort_by("ts")
    a = pt.stream(left, name="A", key="k", time="ts", punctuations=pt.rows_with("p"))
    b = pt.stream(B, name="B", key="k", time="ts")
    policy = pt.Policy(propagate_every=1)
    joined = pt.join(a, b, algorithm="pjoin", memory=60, policy=policy)
    assert pairs(joined) == expected()
    assert {"<[100,200]>", "<[0,19]>"} <= set(joined.punctuations["pattern"].to_pylist())


@pytest.mark.parametrize("harm", ["cut off", "altered", "gone"])
def test_a_damaged_file_is_an_error(harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    joined = pt.join(*streams(), algorithm="xjoin", memory=60)
    driver = joined.bound.driver()
    driver.process(*joined.batches[0])
    victim = next(tmp_path.rglob("*.arrow"))
    data = victim.read_bytes()
    if harm == "gone":
        victim.unlink()
    else:
        victim.write_bytes(data[:-9] if harm == "cut off" else data[:-9] + b"?" + data[-8:])
    with pytest.raises(ScratchError, match="start the join again"):
        driver.end()


def test_the_scratch_folder_goes_with_the_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    joined = pt.join(*streams(), algorithm="xjoin", memory=60)
    driver = joined.bound.driver()
    driver.process(*joined.batches[0])
    assert list(tmp_path.rglob("*.arrow"))
    del driver
    gc.collect()
    assert not list(tmp_path.rglob("*.arrow"))
