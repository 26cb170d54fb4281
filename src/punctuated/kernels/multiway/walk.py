"""The results that a tuple completes: one stored tuple of each other stream, all within reach of each other (WJ-12).

Sides are gone through in the order of their candidates, the fewest first. Every member narrows the period in which the
next ones may lie, so that a window is looked at once for each tuple, not once for each pair (WJ-10). The steps of the
walk are in the state, so that it can be interrupted where the buffer of results is full. Where periods are wider than
the windows (WJ-26), whole results are looked at again.
"""

from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import DEAD, FOREVER, NEVER
from punctuated.kernels.multiway.layout import BY_SCAN, BY_VALUE, MultiState
from punctuated.kernels.time_list import next_position


@inlined
def narrow(state: MultiState, level: int, side: int, by: int, ts: int, alternative: int) -> None:
    """Narrow the period of members of `side` at the next level, after a member of `by` at `ts`."""
    state.low[level + 1, side] = max(state.low[level, side], ts - state.periods[alternative, side, by])
    state.high[level + 1, side] = min(state.high[level, side], ts + state.periods[alternative, by, side])


@inlined
def enter(state: MultiState, side: int, index: int, level: int) -> None:
    """Begin with the candidates of the side of this level."""
    step, of = state.steps[level], state.plan[side, level]
    if state.walk[0].method == BY_VALUE:
        step.position, step.left = state.values[index].head[of], state.values[index].count[of]
    else:
        step.position, step.left = state.sides[of].head, state.sides[of].length
        if state.walk[0].method != BY_SCAN:
            skip_to_period(state, of, level)


@inlined
def ring_at(state: MultiState, side: int, offset: int) -> int:
    """The position of the slot of a ring that is `offset` behind its head."""
    ours = state.sides[side]
    position = ours.head + offset
    return int(position - (ours.ring_stop - ours.ring_start) if position >= ours.ring_stop else position)


@subroutine
def skip_to_period(state: MultiState, side: int, level: int) -> None:
    """Start where the side's tuples reach the period, less the lateness by which they may be out of order."""
    ours, step = state.sides[side], state.steps[level]
    low = state.low[level, side] - ours.lateness
    first, last = 0, ours.length
    while first < last:
        middle = (first + last) >> 1
        if state.nodes[ring_at(state, side, middle)].ts < low:
            first = middle + 1
        else:
            last = middle
    step.position, step.left = ring_at(state, side, first), ours.length - first


@inlined
def next_of(state: MultiState, of: int, position: int) -> int:
    """The position of the candidate after this one."""
    if state.walk[0].method == BY_VALUE:
        return int(state.nodes[position].next)
    return next_position(state, of, position)


@inlined
def n_candidates(state: MultiState, of: int, index: int) -> int:
    """How many tuples of a side may have to be looked at."""
    return int(state.values[index].count[of] if state.walk[0].method == BY_VALUE else state.sides[of].length)


@subroutine
def order_sides(state: MultiState, side: int, index: int) -> None:
    """Order the other sides, those with few candidates first: they narrow the periods most, or show that none fits."""
    plan = state.plan[side]
    for level in range(1, plan.size):
        of = plan[level]
        n, before = n_candidates(state, of, index), level
        while before and n_candidates(state, plan[before - 1], index) > n:
            plan[before] = plan[before - 1]
            before -= 1
        plan[before] = of


@subroutine
def begin_alternative(state: MultiState, side: int, index: int, ts: int, alternative: int) -> None:
    """Begin the walk anew with another alternative of `reaches`."""
    walk = state.walk[0]
    walk.alternative, walk.level = alternative, 0
    for other in range(state.sides.size):
        state.low[0, other] = max(NEVER, ts - state.periods[alternative, other, side])
        state.high[0, other] = min(FOREVER, ts + state.periods[alternative, side, other])
    enter(state, side, index, 0)


@subroutine
def is_within_reach(state: MultiState, side: int, ts: int, last: int, alternative: int) -> bool:
    """Whether a whole result is within reach by an alternative; its members are the chosen ones and that at `last`."""
    n = state.sides.size
    for i in range(n):
        one = ts if i == n - 1 else state.nodes[last if i == n - 2 else state.steps[i].chosen].ts
        a = side if i == n - 1 else state.plan[side, i]
        for j in range(n):
            two = ts if j == n - 1 else state.nodes[last if j == n - 2 else state.steps[j].chosen].ts
            b = side if j == n - 1 else state.plan[side, j]
            if two - one > state.reaches[alternative, a, b]:
                return False
    return True


@subroutine
def is_refused(state: MultiState, side: int, ts: int, last: int) -> bool:
    """Whether a result of wide periods is out of reach, or was found by an earlier alternative already."""
    alternative = state.walk[0].alternative
    if state.walk[0].refines and not is_within_reach(state, side, ts, last, alternative):
        return True
    for earlier in range(alternative):
        if is_within_reach(state, side, ts, last, earlier):
            return True
    return False


@inlined
def emit(state: MultiState, side: int, row: int, last: int) -> None:
    """A result: the new tuple, the members chosen on the alternative, and the last one."""
    n = state.common[0].n_pairs
    state.pairs[side, n] = row
    depth = state.sides.size - 2
    for level in range(depth):
        state.pairs[state.plan[side, level], n] = state.nodes[state.steps[level].chosen].row
    state.pairs[state.plan[side, depth], n] = state.nodes[last].row
    state.common[0].n_pairs = n + 1
    state.common[0].results += 1


@subroutine
def emit_last(state: MultiState, side: int, index: int, ts: int, row: int, level: int) -> bool:
    """Write all results whose last member is a candidate of this level; false if the buffer is full."""
    step, of, capacity = state.steps[level], state.plan[side, level], state.pairs.shape[1]
    low, high = state.low[level, of], state.high[level, of]
    looks_twice = state.walk[0].refines or state.walk[0].alternative > 0
    position, left = step.position, step.left
    while left:
        node = state.nodes[position]
        if low <= node.ts <= high and node.value == index and node.mark & DEAD == 0:
            if state.common[0].n_pairs == capacity:
                step.position, step.left = position, left
                return False
            if not looks_twice or not is_refused(state, side, ts, position):
                emit(state, side, row, position)
        position = next_of(state, of, position)
        left -= 1
    step.left = 0
    return True


@subroutine
def choose_next(state: MultiState, side: int, index: int, level: int) -> bool:
    """Choose the next candidate of a level as a member, and begin the next level; false if there is none left."""
    walk, step, of = state.walk[0], state.steps[level], state.plan[side, level]
    low, high = state.low[level, of], state.high[level, of]
    while step.left:
        position = step.position
        node = state.nodes[position]
        step.position = next_of(state, of, position)
        step.left -= 1
        if low <= node.ts <= high and node.value == index and node.mark & DEAD == 0:
            step.chosen = position
            for deeper in range(level + 1, state.sides.size - 1):
                narrow(state, level, state.plan[side, deeper], of, node.ts, walk.alternative)
            enter(state, side, index, level + 1)
            return True
    return False


@subroutine
def go_on(state: MultiState, side: int, index: int, ts: int, row: int) -> bool:
    """Continue the walk through the results of a tuple; false if it was interrupted by a full buffer."""
    walk, deepest = state.walk[0], state.sides.size - 2
    while True:
        while walk.level >= 0:
            if walk.level == deepest:
                if not emit_last(state, side, index, ts, row, deepest):
                    return False
                walk.level -= 1
            elif choose_next(state, side, index, walk.level):
                walk.level += 1
            else:
                walk.level -= 1
        if walk.alternative + 1 == state.periods.shape[0]:
            return True
        begin_alternative(state, side, index, ts, walk.alternative + 1)


@inlined
def may_complete(state: MultiState, side: int, index: int) -> bool:
    """Whether every other stream has a tuple of this value at all."""
    for other in range(state.sides.size):
        if other != side and state.values[index].count[other] == 0:
            return False
    return True
