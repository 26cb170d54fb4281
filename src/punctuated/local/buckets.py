"""Over how many buckets a join of tables is spread, and why some joins are not.

There is one bucket for each thread. If a batch is larger than the allowed memory, there are more: each is processed
with what it needs in memory, and rests while others are processed. In one bucket, values would always come and go.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import StreamError
from punctuated.model.arguments import whole_number
from punctuated.model.batch import StreamBatch
from punctuated.model.memory import Memory
from punctuated.model.spec import MOST_BUCKETS, MOST_ROUNDS, JoinSpec, JoinType

_NODE_BYTES = 100  # about what a tuple takes beside its row


def why_in_one(spec: JoinSpec) -> str | None:
    """Why a join of tables runs in one bucket, and so on one thread; None if it can be spread."""
    if spec.counts_whole_streams:
        return "pt.rows(n) over a whole stream needs all of it in one place"
    if spec.how is JoinType.FULL and not spec.left.key:
        return "unmatched rows of a full outer join without a key would come out of each bucket"
    if spec.is_staged:
        return f"{spec.algorithm.name} works in stages of its own"
    if spec.shed is not None:
        return "a join that sheds would draw another sample"
    return None


def in_buckets(
    bound: BoundJoin, batches: Sequence[Sequence[StreamBatch]], threads: int, wanted: int | None
) -> BoundJoin:
    """The same join in as many buckets as are wanted, or as its threads and its memory need."""
    threads = whole_number(threads, "threads", StreamError, least=1, most=MOST_BUCKETS)
    why = why_in_one(bound.spec)
    if wanted is not None:
        n = whole_number(wanted, "buckets", StreamError, least=1, most=MOST_BUCKETS)
        if why is not None and n > 1:
            raise StreamError(f"buckets={n}: {why}; leave it out")
    else:
        n = 1 if why is not None else max(threads, _rounds(bound.spec.memory, batches))
    return replace(bound, n_buckets=n, at_once=min(threads, n))


def _rounds(memory: Memory | None, batches: Sequence[Sequence[StreamBatch]]) -> int:
    """How many parts make the largest batch fit into half of the memory, which is for the buckets at work."""
    if memory is None:
        return 1
    largest = max((sum(_need(each, memory) for each in batch) for batch in batches), default=0)
    return min(MOST_ROUNDS, max(1, ceil(2 * largest / (memory.tuples or memory.nbytes or 1))))


def _need(batch: StreamBatch, memory: Memory) -> int:
    """How much a batch of a stream takes of the memory, in tuples or bytes like the memory."""
    n = len(batch.rows)
    return n if memory.tuples is not None else int(batch.rows.nbytes) + n * _NODE_BYTES
