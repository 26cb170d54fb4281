"""A binary heap of timers in a record array, by time; timers of one time go off in the order in which they were set."""

from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import FOREVER, AnyState, Records


@inlined
def _before(heap: Records, i: int, j: int) -> bool:
    a, b = heap[i], heap[j]
    return bool(a.time < b.time or (a.time == b.time and a.order < b.order))


@inlined
def _swap(heap: Records, i: int, j: int) -> None:
    a, b = heap[i], heap[j]
    a.time, b.time = b.time, a.time
    a.order, b.order = b.order, a.order
    a.value, b.value = b.value, a.value


@subroutine
def push_timer(heap: Records, n: int, time: int, order: int, value: int) -> int:
    """Add a timer to a heap of `n`; returns the new size."""
    timer = heap[n]
    timer.time, timer.order, timer.value = time, order, value
    child = n
    while child > 0:
        parent = (child - 1) >> 1
        if not _before(heap, child, parent):
            break
        _swap(heap, child, parent)
        child = parent
    return n + 1


@subroutine
def pop_timer(heap: Records, n: int) -> int:
    """Move the first timer of a heap of `n` behind its end, to `heap[n - 1]`; returns the new size."""
    last = n - 1
    _swap(heap, 0, last)
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= last:
            return last
        if child + 1 < last and _before(heap, child + 1, child):
            child += 1
        if not _before(heap, child, parent):
            return last
        _swap(heap, child, parent)
        parent = child


@inlined
def due_at(state: AnyState, side: int, time: int) -> int:
    """The moment of the batch's clock at which the side's watermark gets to `time`; FOREVER if not in this batch."""
    ours = state.sides[side]
    if time <= ours.watermark:
        return int(state.common[0].now)
    if time > ours.batch_newest - ours.lateness:
        return FOREVER
    return int(time + ours.lateness)
