"""The cache of a worker: buckets stay in memory between micro-batches, under the token of the commit they belong to.

The state store is the only truth. An entry is used only if its token is the stored one, and it is taken out before it
is changed: a task that fails or is attempted twice leaves nothing behind that could be mistaken for a committed state.

Spark gives a bucket to one worker now and to another one later. If a bucket arrives from another worker, another bucket
has left and will not be needed here. So the new bucket replaces the one that has waited longest since an earlier
micro-batch. Without that, every worker would soon hold all buckets, most of them out of date.

What a worker has loaded is kept out of the sight of Python's garbage collector. Spark's daemon collects garbage after
every task of a worker (`pyspark/daemon.py`), and a collection looks at every object of every module and kernel: 80 ms
of a processor, several times in each micro-batch, while the next tasks wait.
"""

import gc
from collections import OrderedDict
from functools import cache
from typing import NamedTuple

from pyspark import TaskContext

from punctuated.runtime.kernel_groups import Kernels, load_kernels
from punctuated.runtime.warm_up import compile_all
from punctuated.spark.session.task import worker_limit
from punctuated.spark.state.bucket import Bucket

Key = tuple[str, int]  # query and bucket
_LARGEST = 2 << 30  # bytes of all buckets together
_SHARE = 4  # a fourth of a worker's memory, if that is limited


class _CachedBucket(NamedTuple):
    token: str
    bucket: Bucket
    nbytes: int
    stage: int | None


class WorkerCache:
    """Buckets by query and number, the least recently used dropped first."""

    def __init__(self, largest: int = _LARGEST) -> None:
        self._largest = largest
        self._kept: OrderedDict[Key, _CachedBucket] = OrderedDict()
        self._bytes = 0

    def take(self, key: Key, token: str) -> Bucket | None:
        """Remove and return the bucket as of that commit, if it is here."""
        found = self._drop(key)
        return found.bucket if found is not None and found.token == token else None

    def put(self, key: Key, token: str, bucket: Bucket, stage: int | None = None, *, arrived: bool = False) -> None:
        """Keep a bucket whose last row is out.

        `stage` is Spark's number of the stage, which differs in each micro-batch; `arrived` says that the bucket was
        not here before.
        """
        self._drop(key)
        if arrived and (left := self._oldest(key[0], stage)) is not None:
            self._drop(left)
        self._kept[key] = _CachedBucket(token, bucket, bucket.driver.nbytes, stage)
        self._bytes += self._kept[key].nbytes
        while len(self._kept) > 1 and self._bytes > self._largest:
            self._drop(next(iter(self._kept)))

    def _oldest(self, query: str, stage: int | None) -> Key | None:
        """The bucket of a query that has waited longest, if that is since another stage."""
        ours = next((key for key in self._kept if key[0] == query), None)
        return ours if ours is not None and self._kept[ours].stage != stage else None

    def _drop(self, key: Key) -> _CachedBucket | None:
        found = self._kept.pop(key, None)
        self._bytes -= 0 if found is None else found.nbytes
        return found

    def __len__(self) -> int:
        return len(self._kept)


def largest_cache() -> int:
    """Bytes that a worker may keep: less if its memory is limited."""
    limit = worker_limit()
    return _LARGEST if limit is None else min(_LARGEST, limit // _SHARE)


CACHE = WorkerCache(largest_cache())


@cache
def prepare_worker(needed: tuple[Kernels, ...] = ()) -> None:
    """Compile or load these kernels, and hide everything that is loaded now from the garbage collector.

    Called before a bucket is opened: buckets have cycles of references, and a hidden bucket would stay for ever. So
    nothing is hidden while a bucket is kept. Outside of Spark's tasks the process is not ours, and its collector is
    left alone. Garbage that comes later is collected as before.
    """
    compile_all(needed)
    if TaskContext.get() is None:
        return
    for kernels in needed:
        load_kernels(kernels)
    if not len(CACHE):
        gc.collect()
        gc.freeze()
