"""The cache of a worker: buckets stay in memory between micro-batches, under the token of the commit they belong to.

The state store is the only truth. An entry is used only if its token is the stored one, and it is taken out before it
is changed: a task that fails or is attempted twice leaves nothing behind that could be mistaken for a committed state.
"""

from collections import OrderedDict

from punctuated.spark.bucket_state import Bucket

Key = tuple[str, int]  # query and bucket
_LARGEST = 2 << 30


class WorkerCache:
    """Buckets by query and number, the least recently used dropped first."""

    def __init__(self, largest: int = _LARGEST) -> None:
        self._largest = largest
        self._kept: OrderedDict[Key, tuple[str, Bucket, int]] = OrderedDict()
        self._bytes = 0

    def take(self, key: Key, token: str) -> Bucket | None:
        """The bucket as of that commit, if it is here; it leaves the cache."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self._bytes -= found[2]
        return found[1] if found[0] == token else None

    def put(self, key: Key, token: str, bucket: Bucket) -> None:
        """Keep a bucket whose last row is out."""
        size = bucket.driver.nbytes
        before = self._kept.pop(key, None)
        self._bytes += size - (before[2] if before is not None else 0)
        self._kept[key] = token, bucket, size
        while len(self._kept) > 1 and self._bytes > self._largest:
            self._bytes -= self._kept.popitem(last=False)[1][2]

    def __len__(self) -> int:
        return len(self._kept)


CACHE = WorkerCache()
