"""The state of a join as arrays (PW-15 … PW-21): T-Nodes and I-Nodes are records, pointers are int32 indices.

    values    one I-Node per join value that any side knows: a value list per side, and the PunctFlags
    slots     open-addressing hash table over `values` (the I-Node index)
    nodes     per side, a ring of T-Nodes in the order of arrival (the time list)

Where the paper has one I-Node index per state, all states share one here: a tuple needs a single look-up to probe the
opposite value list and to find its own.

Records that have an entry per side come in three widths, for kernels are compiled for each: two entries for two
streams, and four or eight for more; entries beyond the number of streams stay empty.

Invariants:
- A value list links its nodes in the order of the ring, so the oldest node of a side is the head of its value list.
- A node with `value < 0` is a shell: unlinked, only waiting for the ring's head to pass (PW-31).
- A node marked DEAD is still linked, but no longer part of the state.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.model import times as eternity
from punctuated.model.counters import loop_totals
from punctuated.model.rejection import Rejection

NEVER, FOREVER = eternity.NEVER, eternity.FOREVER  # before and after every time
UNBOUNDED = eternity.UNBOUNDED
NOT_SET = FOREVER + 1  # a time that even the end of a stream does not reach
NONE = -1  # no node, no value

MOST_STREAMS = 8  # as `model.spec` says

# PunctFlag bits (PW-19) in a word of 64. The first five kinds have a bit per side: they are shifted left by the side,
# or multiplied by a mask of sides; …_ANY are all bits of a kind. OPEN is of the stored tuples, not of punctuations: it
# stays when those are forgotten.
_SIDES = (1 << MOST_STREAMS) - 1
ENDED, ENDED_ANY = 1, _SIDES  # the side has punctuated the value
EFFECT, EFFECT_ANY = 1 << 8, _SIDES << 8  # and that has taken effect
RECALLED, RECALLED_ANY = 1 << 16, _SIDES << 16  # by a range or a finished run, not by name
ANNOUNCED, ANNOUNCED_ANY = (
    1 << 24,
    _SIDES << 24,
)  # the ending came apart from the stream: it takes effect only beyond its time
OPEN, OPEN_ANY = 1 << 32, _SIDES << 32  # the stream is clustered, and has yet to end the value
OUT = 1 << 40  # punctuated in the output
ARCHIVED = 1 << 41  # finished, and remembered in a run outside the I-Nodes
OUT_RECALLED = 1 << 42  # OUT comes from such a run or from a range

# Marks of a node; INDEXED: it is in the window's structure.
MATCHED, DEAD, INDEXED = 1, 2, 4

# Status of an input tuple. One that is shed does not probe, or is not stored (KN-33).
NULL_KEY, BROKEN, NO_PROBE, NO_STORE = 1, 2, 4, 8

# Kinds of an input punctuation, in the order of processing. A range is handed to the driver.
END_VALUE, ANNOUNCE_VALUE, END_RANGE, SET_FLOOR, PROMISE_ONLY, NO_ENDING, END_STREAM = range(7)

# What a match means.
PAIRS, FIRST_MATCH = 0, 1

# Policies for broken promises.
REJECT, FAIL, ACCEPT = 0, 1, 2

# Reasons of output punctuations.
BOTH, EARLY, OWN_STATE = 0, 1, 2

# Reasons of rejections that the loop itself finds.
PROMISE, AFTER_OUTPUT = Rejection.PROMISE.code, Rejection.AFTER_OUTPUT.code

# How a side may end a value of the output before all others have ended it.
NEVER_EARLY, BY_WINDOW, BY_OWN_STATE = 0, 1, 2

# Why the loop came back.
DONE, NEEDS_ROOM, NEEDS_TIMERS, MET_RANGE, RANGE_DUE, BROKE_PROMISE, PAIRS_FULL = range(7)

NODE = np.dtype([("ts", "i8"), ("next", "i4"), ("value", "i4"), ("row", "i4"), ("mark", "i4")])
TIMER = np.dtype([("time", "i8"), ("order", "i8"), ("value", "i8")])
BOUNDARY = np.dtype([("time", "i8"), ("code", "i8"), ("is_here", "i8")])  # without a code the value is never open here
RUN = np.dtype([("low", "i8"), ("high", "i8"), ("flags", "i8")])  # disjoint, ascending
FINISHED = np.dtype([*RUN.descr, ("touched", "i8")])  # values that are over in the output, by the same streams
PENDING_RANGE = np.dtype([(name, "i8") for name in ("order", "ts", "touched", "low", "high")])


def width_for(n_streams: int) -> int:
    """How many entries a record has that holds something of each stream.

    >>> [width_for(n) for n in (1, 2, 3, 4, 5, 8)]
    [2, 2, 4, 4, 8, 8]
    """
    assert 1 <= n_streams <= MOST_STREAMS
    return next(width for width in (2, 4, MOST_STREAMS) if n_streams <= width)


def all_sides(n_streams: int) -> int:
    """The mask of all sides: multiplied by a kind of flags, it gives all bits of that kind."""
    return (1 << n_streams) - 1


def value_type(width: int) -> np.dtype[np.void]:
    """The record of an I-Node: per side, the first and the last node of its list and how many there are."""
    lists = [(name, "i4", (width,)) for name in ("head", "tail", "count")]
    return np.dtype([("code", "i8"), *lists, ("flags", "i8")])


def _ending_fields(width: int) -> list[tuple[str, str, tuple[int, ...]]]:
    return [("ended_ts", "i8", (width,)), ("last_ts", "i8", (width,)), ("touched", "i8", ())]


def ending_type(width: int) -> np.dtype[np.void]:
    """The record of a value's end: per side, when it was punctuated and when its last tuple came."""
    return np.dtype(_ending_fields(width))


def remembered_type(width: int) -> np.dtype[np.void]:
    """The record of a value of which more is known than its stored tuples say."""
    return np.dtype([("code", "i8"), ("flags", "i8"), *_ending_fields(width)])


def range_type(width: int) -> np.dtype[np.void]:
    """The record of a run of values under range endings: when each side ended them, NEVER if that no longer matters.

    Kernels do not look at `touched`, the number of the object that changed it last, and `writing`, how the bounds are
    written.
    """
    return np.dtype([*RUN.descr, ("ts", "i8", (width,)), ("touched", "i8"), ("writing", "i8")])


STORED = np.dtype([("code", "i8"), ("ts", "i8"), ("seq", "i8"), ("mark", "i8")])  # a tuple as it is saved
UNMATCHED = np.dtype([("ts", "i8"), ("row", "i4"), ("side", "i4")])
PUNCTUATION = np.dtype([("code", "i8"), ("ts", "i8"), ("reason", "i8")])
REJECTION = np.dtype([("row", "i4"), ("side", "i2"), ("reason", "i2")])

# What the loop counts, per side and for the join.
SIDE_TOTALS, TOTALS = loop_totals(of_streams=True), loop_totals(of_streams=False)

SIDE = np.dtype(
    [
        # The clock.
        ("newest", "i8"),
        ("batch_newest", "i8"),  # the largest time that the batch at hand brings, here or in another bucket
        ("floor", "i8"),
        ("watermark", "i8"),
        ("end_ts", "i8"),  # when the stream ended; FOREVER while it runs
        # The ring of nodes.
        ("ring_start", "i8"),
        ("ring_stop", "i8"),
        ("head", "i8"),  # position of the oldest node
        ("length", "i8"),  # nodes in the ring, shells included
        ("live", "i8"),  # tuples in the state
        ("accepted", "i8"),  # tuples so far, for rows(n)
        ("base_row", "i8"),  # row number of the batch's first tuple
        ("appended", "i8"),  # nodes since the batch began
        ("n_pending", "i8"),
        ("n_deadlines", "i8"),
        ("n_clusters", "i8"),
        ("n_boundaries", "i8"),
        ("boundary", "i8"),  # the first one that may still end a value
        (
            "range_time",
            "i8",
        ),  # when the first pending range ending takes effect, and its number in the order of arrival
        ("range_order", "i8"),
        ("settled", "i8"),  # the latest time of the range endings whose own times no longer matter
        # The rules.
        ("lateness", "i8"),
        ("span", "i8"),
        ("offset", "i8"),
        ("forget_after", "i8"),  # span, or UNBOUNDED where windows do not forget; 0 where tuples have ends of their own
        ("soonest", "i8"),  # no tuple in the state is out of its window before, only where windows are their own
        ("rows", "i8"),  # rows(n), else 0
        ("rows_per_key", "i8"),
        ("preserved", "i8"),  # unmatched tuples of this side come out
        ("early_rule", "i8"),  # how it may end output values before the others: NEVER_EARLY, BY_WINDOW or BY_OWN_STATE
        ("unique", "i8"),
        ("clustered", "i8"),
        ("tracks_last", "i8"),  # the time of each value's last tuple is needed
        ("policy", "i8"),
        *((name, "i8") for name in SIDE_TOTALS),
    ]
)
COMMON = np.dtype(
    [
        ("n_values", "i8"),
        ("shift", "i8"),  # of the hash
        ("hash_mask", "u8"),  # all ones but in tests, which cut it to force collisions
        ("first_seq", "i8"),  # objects processed before this batch
        ("seq", "i8"),  # number of the object at hand
        ("now", "i8"),
        ("timers", "i8"),  # timers set so far
        ("due", "i8"),  # the next moment of the batch's clock at which a timer goes off; NEVER asks for a look
        ("n_queued", "i8"),
        ("n_done", "i8"),
        ("stopped_by", "i8"),
        # The rules.
        ("punctuated", "i8"),
        ("forgets_by_punctuation", "i8"),
        ("propagates", "i8"),
        ("purge_threshold", "i8"),  # 0: purges only come together, and somebody else carries them out
        ("on_disk", "i8"),  # sides of which tuples lie on disk, a bit for each: what they must still meet is kept
        ("match_mode", "i8"),
        ("marks_matches", "i8"),
        ("emits_unmatched", "i8"),
        ("filtered", "i8"),  # an extra predicate decides later which pairs and which unmatched tuples count
        # Cursors of the output buffers.
        ("n_pairs", "i8"),
        ("n_unmatched", "i8"),
        ("n_punctuations", "i8"),
        ("n_rejected", "i8"),
        *((name, "i8") for name in TOTALS),
    ]
)

Records = npt.NDArray[np.void]
Ints = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Flag = npt.NDArray[np.uint8]  # empty: its type is the flag, so that kernels are compiled for either case

FALSE, TRUE = np.empty(0, np.uint8), np.empty((0, 0), np.uint8)


class State(NamedTuple):
    """Everything the loop works on. Kernels take `state` and a `side`, and call its two records `ours` and `other`.

    Its type says that there are two streams: what depends on that is chosen by it (see `by_state`).
    """

    sides: Records  # (2,) SIDE
    common: Records  # (1,) COMMON
    nodes: Records  # (capacity,) NODE: the rings, in the order of the sides
    seq: Ints  # (capacity,) number of each tuple, only for rows(n), or of each object, only in stages
    own_windows: Flag  # every tuple has a window of its own, on at least one side
    ends: Ints  # (capacity,) and then, when it ends
    values: Records  # (capacity,) `value_type`
    endings: Records  # (capacity,) `ending_type`, beside the values, or empty where nothing is ever punctuated
    last_ends: Ints  # (capacity, width) and the latest end of each side's tuples so far, beside the values
    slots: Indices  # (power of two,) index into values
    pending: Records  # (2, capacity) TIMER, heaps of endings that wait for their effect
    deadlines: Records  # (2, capacity) TIMER, heaps of ended values whose last tuple is still in the window
    clusters: Records  # (2, capacity) TIMER, heaps of values that a clustered stream has yet to end, by their last time
    boundaries: Records  # (2, capacity) BOUNDARY, ascending: when a batch of a clustered stream first brought a value
    queue: Ints  # (threshold, or more) purges that wait: value and side of the punctuation (see `packed`)
    done: Ints  # (capacity,) values punctuated in the output since they were last collected
    runs: Records  # (n,) FINISHED
    ranges: Records  # (n,) `range_type`: values under range endings
    pairs: Indices  # (2, capacity) output: row numbers per side
    unmatched: Records  # (capacity,) output: UNMATCHED
    punctuations: Records  # (capacity,) output: PUNCTUATION
    rejected: Records  # (capacity,) output: REJECTION


AnyState = State  # what kernels take that serve any number of streams


class Objects(NamedTuple):
    """One side of a batch, in the order of processing."""

    ts: Ints
    code: Ints
    status: Bytes
    end: Ints  # of each tuple's window, only where windows are their own
    punctuation_ts: Ints
    punctuation_code: Ints
    punctuation_kind: Bytes
    group: Ints  # these three only where windows have structures of their own
    low: Ints
    high: Ints
