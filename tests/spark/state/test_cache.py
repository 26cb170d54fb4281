"""The cache of a worker: what it drops, and how much it holds."""

from typing import cast

import pytest

from punctuated.spark.session.task import VARIABLE
from punctuated.spark.state import bucket as bucket_state
from punctuated.spark.state.cache import WorkerCache, largest_cache


class Sized:
    """Stands for a bucket of a given size, and counts how often it is asked for it."""

    n_asked = 0

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    @property
    def driver(self) -> "Sized":
        return self

    @property
    def nbytes(self) -> int:
        Sized.n_asked += 1
        return self._nbytes


def sized(nbytes: int) -> bucket_state.Bucket:
    return cast(bucket_state.Bucket, Sized(nbytes))


def test_a_full_cache_drops_what_was_used_least_recently() -> None:
    kept = WorkerCache(largest=100)
    for number in range(4):
        kept.put(("query", number), "token", sized(30))
    assert len(kept) == 3
    assert kept.take(("query", 0), "token") is None
    again = kept.take(("query", 1), "token")
    assert again is not None
    kept.put(("query", 1), "another token", again)
    kept.put(("query", 4), "token", sized(30))
    assert [kept.take(("query", number), "token") is not None for number in (2, 3, 4)] == [False, True, True]
    kept.put(("query", 5), "token", sized(1000))
    assert kept.take(("query", 5), "token") is not None  # the last one always stays


def test_a_cache_of_many_buckets_costs_little() -> None:
    kept, Sized.n_asked = WorkerCache(), 0
    for number in range(500):
        kept.put(("query", number), "token", sized(1))
    assert Sized.n_asked < 2_000


def run_round(workers: list[WorkerCache], stage: int, n_buckets: int) -> int:
    """Each worker processes a part of the buckets, the parts change workers; returns how many were at hand."""
    hits = 0
    for number in range(n_buckets):
        worker = workers[(number + stage // 2) % len(workers)]  # every second time the parts are exchanged
        found = worker.take(("query", number), f"token {stage - 1}")
        hits += found is not None
        worker.put(("query", number), f"token {stage}", found or sized(10), stage, arrived=found is None)
    return hits


def test_buckets_that_change_workers_are_not_held_by_all() -> None:
    """Two workers with 16 of 32 buckets each: with a share of the state each, not with all of it."""
    workers = [WorkerCache(), WorkerCache()]
    hits = [run_round(workers, stage, 32) for stage in range(10)]
    assert [len(worker) for worker in workers] == [16, 16]
    assert hits == [0, 32] * 5


def test_a_worker_with_more_to_do_than_before_keeps_what_it_did_in_this_batch() -> None:
    kept = WorkerCache()
    kept.put(("query", 0), "first", sized(10), stage=1, arrived=True)
    kept.put(("other query", 0), "first", sized(10), stage=1, arrived=True)
    for number in range(1, 5):
        kept.put(("query", number), "second", sized(10), stage=2, arrived=True)
    assert kept.take(("query", 0), "first") is None
    assert all(kept.take(("query", number), "second") for number in range(1, 5))
    assert kept.take(("other query", 0), "first") is not None


def test_a_worker_with_little_memory_keeps_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert largest_cache() == 2 << 30
    monkeypatch.setenv(VARIABLE, "2048")
    assert largest_cache() == 512 << 20
