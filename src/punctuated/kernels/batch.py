"""The room that a batch needs while it is processed, and what happens at its end."""

from punctuated.kernels.by_state import leaving_watermark, n_streams, sweep, tidy
from punctuated.kernels.clock import reach, run_clock
from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.layout import DONE, NEEDS_ROOM, NEVER, RANGE_DUE, AnyState


@subroutine
def timer_quota(state: AnyState) -> int:
    """How many objects the buffers for punctuations can take for certain.

    An object ends at most one value or opens it, and brings at most one; an open value may be ended, an ended one get
    a deadline; a value is finished at most once, and changed after that at most once per object.
    """
    common, n = state.common[0], n_streams(state)
    to_end = clusters = deadlines = all_to_end = all_deadlines = 0
    for side in range(n):
        ours = state.sides[side]
        to_end = max(to_end, ours.n_pending + ours.n_clusters)
        clusters, deadlines = max(clusters, ours.n_clusters), max(deadlines, ours.n_deadlines)
        all_to_end += ours.n_pending + ours.n_clusters
        all_deadlines += ours.n_deadlines
    room = (state.deadlines.shape[1] - deadlines - to_end) // 2
    if n > 2:  # each ending may set one for every stream that has ended the value, and all on one side
        room = (state.deadlines.shape[1] - all_deadlines - n * all_to_end) // (2 * n)
    purges = state.queue.size - common.n_queued - n * common.n_values if common.purge_threshold == 0 else room
    quota = min(
        state.punctuations.size - common.n_punctuations - common.n_values,
        (state.done.size - common.n_done - common.n_values) // 2,
        state.pending.shape[1] - to_end - 1,
        state.clusters.shape[1] - clusters - 1,
        room - 1,
        purges - 1,
    )
    return int(quota)


@inlined
def has_room(state: AnyState, matches: int) -> bool:
    """Whether the other buffers can take what one object may bring, even if every tuple leaves at once."""
    common, live = state.common[0], 0
    for side in range(n_streams(state)):
        ours = state.sides[side]
        live += ours.live
        if ours.length >= ours.ring_stop - ours.ring_start:
            return False
    return bool(
        common.n_pairs + matches <= state.pairs.shape[1]
        and 2 * common.n_values < state.slots.size
        and common.n_values < state.values.size
        and common.n_rejected < state.rejected.size
        and (not common.emits_unmatched or common.n_unmatched + live + 1 < state.unmatched.size)
    )


@in_place
def sweep_ended(state: AnyState) -> None:
    """Forget tuples whose own windows have ended; nothing else depends on when that happens within a batch."""
    for side in range(n_streams(state)):
        if state.sides[side].soonest < leaving_watermark(state, side):
            sweep(state, side)


@in_place
def finish_batch(state: AnyState) -> int:
    """End a batch: the clock runs to its end, and tuples out of their windows go, whatever the order of arrival."""
    common = state.common[0]
    if not has_room(state, 0) or (common.punctuated and timer_quota(state) < 1):
        return NEEDS_ROOM
    end = common.now
    for side in range(n_streams(state)):
        end = max(end, state.sides[side].batch_newest)
    if not run_clock(state, end - 1):
        return RANGE_DUE
    common.now = end
    reach(state, end)
    if not run_clock(state, end):
        return RANGE_DUE
    tidy(state)
    common.now = NEVER
    return DONE
