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
        self._kept: OrderedDict[Key, tuple[str, Bucket]] = OrderedDict()

    def take(self, key: Key, token: str) -> Bucket | None:
        """The bucket as of that commit, if it is here; it leaves the cache."""
        found = self._kept.pop(key, None)
        return found[1] if found is not None and found[0] == token else None

    def put(self, key: Key, token: str, bucket: Bucket) -> None:
        """Keep a bucket whose last row is out."""
        self._kept[key] = token, bucket
        while len(self._kept) > 1 and sum(b.driver.nbytes for _, b in self._kept.values()) > self._largest:
            self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)


CACHE = WorkerCache()
