"""The arrays of a join's state and their growth. The kernels fill them; this module only gives them room."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay
from punctuated.kernels.batch import sweep_ended
from punctuated.kernels.order import pack, unpack
from punctuated.kernels.rebuild import copy_rings, copy_values, follow_move, mark_needed
from punctuated.model.algorithm import Propagation
from punctuated.model.spec import JoinSpec, JoinType, OnViolation
from punctuated.model.window import CountWindow, TimeWindow

T = TypeVar("T", bound=np.generic)
SMALLEST = 1024  # room of an empty array
_PAIRS = 1 << 18
_SPARE = 4 / 3  # capacity per entry after a rebuild: bounds both the slack and the number of rebuilds
_SLACK = 9 / 8  # capacity that values may have beyond that, rather than move to other arrays
_RUNS_PER_VALUE = 16  # archiving copies all runs: the longer they are, the more values it must be worth
_COLLECTIONS = 4  # of values at most, while as many objects come as the timers have room for
_POLICIES = {OnViolation.REJECT: lay.REJECT, OnViolation.FAIL: lay.FAIL, OnViolation.ACCEPT: lay.ACCEPT}
SCRATCH = ("pairs", "unmatched", "punctuations", "rejected")


def _capacity(entries: int) -> int:
    return int(entries * _SPARE) + SMALLEST


def _shift(slots: int) -> int:
    """How far a 64-bit hash is shifted to address a power of two of slots."""
    return 64 - slots.bit_length() + 1


def is_punctuated(spec: JoinSpec) -> bool:
    """Whether any stream can bring punctuations."""
    return any(stream.punctuated for stream in spec.streams)


def _numbers_tuples(spec: JoinSpec) -> bool:
    """Whether each tuple's number is kept: what a count window evicts by, and what stages know tuples apart by."""
    windows = (stream.window for stream in spec.streams)
    return spec.is_staged or any(isinstance(window, CountWindow) and not window.per_key for window in windows)


class JoinState:
    """The arrays that the kernels work on.

    That of a join of more than two streams says what is its own: the type of its arrays, by which kernels choose, how
    its fields are made, and which rules the streams follow.
    """

    def __init__(
        self, spec: JoinSpec, allow: Callable[[int], None], *, filtered: bool = False, hash_bits: int = 64
    ) -> None:
        """`allow` is asked before so many bytes more are taken, and may raise.

        `filtered`: an extra predicate decides later what is a match. `hash_bits`: fewer than 64 force collisions.
        """
        self._allow, self.filtered = allow, filtered
        self.n_streams = len(spec.streams)
        self.width = self._width()
        self.punctuated = is_punctuated(spec)
        self.spilled = np.zeros(self.n_streams, np.int64)  # stored tuples of each side that are not in these arrays
        self.quota = 1  # objects that the buffers for punctuations must be able to take at a time
        common = self._common(spec)
        common["hash_mask"] = (1 << 64) - (1 << (64 - hash_bits))
        self.arrays = self._state(self._fields(spec, self._sides(spec), common))

    # What the state of a join of more streams says in another way

    def _state(self, fields: dict[str, Any]) -> lay.AnyState:
        """The arrays as one; its type says which kernels serve it."""
        assert self.n_streams == 2
        return lay.State(**fields)

    def _width(self) -> int:
        """How many places records have that hold something of each stream."""
        return lay.width_for(self.n_streams)

    def _rules(self, spec: JoinSpec, side: int) -> dict[str, int]:
        """What a stream's record says from the beginning."""
        stream, window = spec.streams[side], spec.streams[side].window
        span = window.span_us if isinstance(window, TimeWindow) else lay.UNBOUNDED
        early_rule = self._early_rule(spec, side)
        return {
            "lateness": stream.lateness_us,
            "span": span,
            "offset": window.offset_us if isinstance(window, TimeWindow) else 0,
            "forget_after": self._forget_after(spec, span),
            "rows": window.n if isinstance(window, CountWindow) else 0,
            "rows_per_key": isinstance(window, CountWindow) and window.per_key,
            "preserved": spec.how.preserves(side),
            "early_rule": early_rule,
            "unique": stream.unique,
            "clustered": stream.clustered,
            "tracks_last": stream.punctuated and (early_rule == lay.BY_WINDOW or stream.clustered),
            "policy": _POLICIES[stream.on_violation],
        }

    def _forget_after(self, spec: JoinSpec, span: int) -> int:
        """How long the time list keeps a tuple."""
        if spec.is_staged:  # beyond the end of the other stream, too: it may have to meet what is on disk
            return lay.FOREVER + lay.UNBOUNDED
        return lay.UNBOUNDED if not spec.algorithm.by_window else 0 if spec.own_windows else span

    def _early_rule(self, spec: JoinSpec, side: int) -> int:
        """How a stream may end values of the output without the others."""
        if not spec.may_end_early(side):
            return lay.NEVER_EARLY
        return lay.BY_WINDOW if spec.algorithm.propagation is Propagation.EARLY else lay.BY_OWN_STATE

    def _common(self, spec: JoinSpec) -> lay.Records:
        """The record of the join, with its rules."""
        common = np.zeros(1, lay.COMMON)
        preserving = any(spec.how.preserves(side) for side in spec.sides)
        settles = spec.how in (JoinType.SEMI, JoinType.ANTI) and not self.filtered
        common["now"] = lay.NEVER
        common["punctuated"] = self.punctuated
        common["forgets_by_punctuation"] = spec.algorithm.by_punctuation
        common["propagates"] = spec.algorithm.propagation is not Propagation.NONE and not spec.is_staged
        common["purge_threshold"] = 0 if spec.is_staged else spec.purge_threshold
        common["match_mode"] = lay.FIRST_MATCH if settles else lay.PAIRS
        common["marks_matches"] = preserving and not self.filtered
        common["emits_unmatched"] = preserving
        common["filtered"] = self.filtered
        common["shift"] = _shift(2 * SMALLEST)
        return common

    def _fields(self, spec: JoinSpec, sides: lay.Records, common: lay.Records) -> dict[str, Any]:
        """All arrays by their names, empty but with room for a beginning."""
        n, room = self.n_streams, self.n_streams * SMALLEST
        timed = SMALLEST if self.punctuated else 0
        own = 1 if spec.own_windows else 0
        return {
            "sides": sides,
            "common": common,
            "nodes": np.zeros(room, lay.NODE),
            "seq": np.zeros(room if _numbers_tuples(spec) else 0, np.int64),
            "own_windows": lay.TRUE if own else lay.FALSE,
            "ends": np.zeros(room * own, np.int64),
            "values": np.zeros(SMALLEST, lay.value_type(self.width)),
            "endings": np.zeros(timed, lay.ending_type(self.width)),
            "last_ends": np.zeros((timed * own, self.width), np.int64),
            "slots": np.full(2 * SMALLEST, lay.NONE, np.int32),
            "pending": np.zeros((n, timed), lay.TIMER),
            "deadlines": np.zeros((n, timed), lay.TIMER),
            "clusters": np.zeros((n, timed), lay.TIMER),
            "boundaries": np.zeros((n, 0), lay.BOUNDARY),
            "queue": np.zeros(spec.purge_threshold, np.int64),
            "done": np.zeros(2 * timed, np.int64),
            "runs": np.zeros(0, lay.FINISHED),
            "ranges": np.zeros(0, lay.range_type(self.width)),
            "pairs": np.empty((n, _PAIRS), np.int32),
            "unmatched": np.zeros(SMALLEST, lay.UNMATCHED),
            "punctuations": np.zeros(2 * timed, lay.PUNCTUATION),
            "rejected": np.zeros(SMALLEST, lay.REJECTION),
        }

    def _sides(self, spec: JoinSpec) -> lay.Records:
        sides = np.zeros(self.n_streams, lay.SIDE)
        for field in ("newest", "batch_newest", "floor", "watermark", "settled"):
            sides[field] = lay.NEVER
        sides["end_ts"] = sides["soonest"] = lay.FOREVER
        sides["range_time"] = lay.NOT_SET
        for side in spec.sides:
            for field, number in self._rules(spec, side).items():
                sides[field][side] = number
        _set_rings(sides, np.arange(self.n_streams + 1) * SMALLEST)
        return sides

    # What it holds

    @property
    def sides(self) -> lay.Records:
        return self.arrays.sides

    @property
    def common(self) -> lay.Records:
        return self.arrays.common

    @property
    def n_stored(self) -> npt.NDArray[np.int64]:
        """How many tuples of each side are stored, here or elsewhere."""
        return np.asarray(self.sides["live"] + self.spilled)

    @property
    def n_values(self) -> int:
        return int(self.common["n_values"][0])

    def positions(self, side: int) -> npt.NDArray[np.int64]:
        """Where a side's nodes are, oldest first, shells included."""
        ours = self.sides[side]
        start, stop, length = int(ours["ring_start"]), int(ours["ring_stop"]), int(ours["length"])
        positions = int(ours["head"]) + np.arange(length, dtype=np.int64)
        positions[positions >= stop] -= stop - start
        return positions

    def _replace(self, **arrays: Any) -> None:
        self.arrays = self.arrays._replace(**arrays)

    def show_runs(self, runs: lay.Records) -> None:
        """Let the kernels see other finished values."""
        self._replace(runs=runs)

    def show_ranges(self, ranges: lay.Records) -> None:
        """Let the kernels see other values under ranges."""
        self._replace(ranges=ranges)

    # Boundaries of clustered streams

    def boundaries(self, side: int) -> lay.Records:
        """The boundaries of a clustered stream that may still end a value: those beyond its watermark."""
        known = self.arrays.boundaries[side, : int(self.sides["n_boundaries"][side])]
        return np.asarray(known[known["time"] > self.sides["watermark"][side]])

    def add_boundaries(self, side: int, fresh: lay.Records) -> None:
        """Add the boundaries that a batch brings."""
        kept = np.concatenate([self.boundaries(side), fresh])
        kept = kept[np.argsort(kept["time"], kind="stable")]
        self._replace(boundaries=_grown(self.arrays.boundaries, kept.size))
        self.arrays.boundaries[side, : kept.size] = kept
        self.sides["n_boundaries"][side], self.sides["boundary"][side] = kept.size, 0

    def _own_boundaries(self) -> tuple[Any, ...]:
        """Positions of the boundaries whose values have codes here."""
        n_known = self.sides["n_boundaries"][:, np.newaxis]
        is_known = np.arange(self.arrays.boundaries.shape[1]) < n_known
        return np.nonzero(is_known & (self.arrays.boundaries["is_here"] != 0))

    def boundary_codes(self) -> npt.NDArray[np.int64]:
        """Codes of the values that boundaries are of."""
        return np.asarray(self.arrays.boundaries["code"][self._own_boundaries()])

    def recode_boundaries(self, codes: npt.NDArray[np.int64]) -> None:
        """Give the boundaries the new codes of keys that were numbered anew, in the order of `boundary_codes`."""
        self.arrays.boundaries["code"][self._own_boundaries()] = codes

    # Room

    @property
    def lacks_values(self) -> bool:
        """Whether there is no room for another I-Node."""
        return self.n_values == self.arrays.values.size or 2 * self.n_values >= self.arrays.slots.size

    def make_room(self, deadlines: int = 0) -> bool:
        """See to it that every buffer but that of the pairs can take one more object.

        An object may make everything leave at once. Returns whether anything had to change.
        """
        before = self.arrays
        if (self.sides["length"] == self.sides["ring_stop"] - self.sides["ring_start"]).any():
            self.sweep()
            self.copy_rings()
        collects = self.lacks_values  # perhaps within the arrays that there are
        if collects:
            self.collect_values()
        self._make_output_room()
        if self.punctuated:
            self._make_timer_room(deadlines)
        return collects or any(now is not then for now, then in zip(self.arrays, before, strict=True))

    def make_room_for_nodes(self, more: Sequence[int]) -> None:
        """Room in the rings for so many more tuples of each side."""
        room = self.sides["ring_stop"] - self.sides["ring_start"] - self.sides["length"]
        if (room <= more).any():
            self.copy_rings(more)

    def make_room_for_values(self, more: int) -> None:
        """Room for so many more I-Nodes."""
        if self.n_values + more > min(self.arrays.values.size, self.arrays.slots.size // 2):
            self.collect_values(more)

    def reserve(self, n_values: int, n_nodes: list[int]) -> None:
        """Room for so many values, and nodes of each side, in a state that is still empty."""
        capacity, edges = _capacity(n_values), _edges([_capacity(n) for n in n_nodes])
        n_all = int(edges[-1])
        self._allow(capacity * self._bytes_per_value + n_all * self.bytes_per_node)
        slots = np.full(1 << (2 * capacity).bit_length(), lay.NONE, np.int32)
        self.common["shift"] = _shift(slots.size)
        self._replace(
            nodes=np.zeros(n_all, lay.NODE),
            seq=np.zeros(n_all if self.arrays.seq.size else 0, np.int64),
            ends=np.zeros(n_all if self.arrays.ends.size else 0, np.int64),
            slots=slots,
            **self._value_arrays(capacity),
        )
        _set_rings(self.sides, edges)

    def _value_arrays_of(self, capacity: int) -> dict[str, Any]:
        """Arrays for values that move to their front: those that there are, unless these are too small or too large."""
        arrays = self.arrays
        if capacity <= arrays.values.size <= _SLACK * capacity:
            arrays.slots.fill(lay.NONE)
            return {name: getattr(arrays, name) for name in ("values", "endings", "last_ends", "slots")}
        self._allow(capacity * self._bytes_per_value)
        slots = np.full(1 << (2 * capacity).bit_length(), lay.NONE, np.int32)
        self.common["shift"] = _shift(slots.size)
        return {**self._value_arrays(capacity), "slots": slots}

    def _value_arrays(self, capacity: int) -> dict[str, Any]:
        """Empty arrays for so many values: what is kept of each value, side by side."""
        return {
            "values": np.zeros(capacity, self.arrays.values.dtype),
            "endings": np.zeros(capacity if self.punctuated else 0, self.arrays.endings.dtype),
            "last_ends": np.zeros((capacity if self.arrays.last_ends.size else 0, self.width), np.int64),
        }

    @property
    def bytes_per_node(self) -> int:
        """What room for one more tuple takes."""
        return lay.NODE.itemsize + 8 * sum(1 for each in (self.arrays.seq, self.arrays.ends) if each.size)

    @property
    def _bytes_per_value(self) -> int:
        slots = 4 * np.dtype(np.int32).itemsize  # at most four for each value
        ends = 8 * self.width if self.arrays.last_ends.size else 0
        return self.arrays.values.itemsize + (self.arrays.endings.itemsize if self.punctuated else 0) + ends + slots

    @property
    def bytes_per_tuple(self) -> int:
        """What room for one more tuple takes, if it brings a value."""
        return int(_SPARE * (self.bytes_per_node + self._bytes_per_value))

    def compact(self) -> None:
        """Copy everything into arrays as small as possible."""
        self.copy_rings()
        self.collect_values()

    def sweep(self) -> None:
        """Let go of tuples that are out of windows of their own; others leave in their turn."""
        if self.arrays.ends.size:
            self._make_output_room()
            sweep_ended(self.arrays)

    def copy_rings(self, more: Sequence[int] | None = None) -> None:
        """Copy the nodes into rings with room to spare, for so many `more` of each side: they get other positions."""
        values = self.arrays.nodes["value"]
        n_nodes = [np.count_nonzero(values[self.positions(side)] >= 0) for side in range(self.n_streams)]
        edges = _edges(
            [_capacity(int(n) + extra) for n, extra in zip(n_nodes, more or [0] * len(n_nodes), strict=True)]
        )
        self._allow(int(edges[-1]) * self.bytes_per_node)
        nodes = np.zeros(edges[-1], lay.NODE)
        seq, ends = (np.zeros(nodes.size if each.size else 0, np.int64) for each in (self.arrays.seq, self.arrays.ends))
        copy_rings(self.arrays, nodes, seq, ends, edges)
        self._replace(nodes=nodes, seq=seq, ends=ends)

    def collect_values(self, more: int = 0) -> None:
        """Forget values that nothing needs any more, and make room for new ones, for at least so many `more`."""
        needed = mark_needed(self.arrays)
        n_needed = int(np.count_nonzero(needed)) + more
        spare = max(self.arrays.runs.size // _RUNS_PER_VALUE, self.quota // _COLLECTIONS)
        capacity = max(_capacity(n_needed), n_needed + spare)
        fresh = self._value_arrays_of(capacity)
        moved = copy_values(self.arrays, needed, **fresh)
        self._move_indices(moved)
        self._replace(**fresh)
        for side in range(self.n_streams):
            follow_move(self.arrays, side, moved)
            count = int(self.sides["n_deadlines"][side])
            timers = self.arrays.deadlines[side, :count]
            timers[:] = timers[np.lexsort((timers["order"], timers["time"]))]  # a sorted array is a heap

    def _move_indices(self, moved: lay.Indices) -> None:
        n_queued, n_done = int(self.common["n_queued"][0]), int(self.common["n_done"][0])
        queue, done = self.arrays.queue, self.arrays.done
        values, by = unpack(queue[:n_queued])
        queue[:n_queued] = pack(moved[values].astype(np.int64), by)
        done[:n_done] = moved[done[:n_done]]

    def _make_output_room(self) -> None:
        common, arrays = self.common[0], self.arrays
        live = int(self.sides["live"].sum()) if common["emits_unmatched"] else 0
        n_values = self.n_values if self.punctuated else 0
        self._replace(
            unmatched=_grown(arrays.unmatched, int(common["n_unmatched"]) + live + 2),
            rejected=_grown(arrays.rejected, int(common["n_rejected"]) + 1),
            punctuations=_grown(arrays.punctuations, int(common["n_punctuations"]) + n_values + self.quota),
            done=_grown(arrays.done, int(common["n_done"]) + n_values + 2 * self.quota),
        )
        if common["purge_threshold"] == 0:
            self.make_queue_room(int(common["n_queued"]) + self.n_streams * n_values + self.quota + 1)

    def make_queue_room(self, n: int) -> None:
        """Room for so many purges that wait."""
        self._replace(queue=_grown(self.arrays.queue, n))

    def _make_timer_room(self, deadlines: int) -> None:
        sides, arrays = self.sides, self.arrays
        to_end = int((sides["n_pending"] + sides["n_clusters"]).max())
        self._replace(
            pending=_grown(arrays.pending, to_end + self.quota + 2),
            clusters=_grown(arrays.clusters, int(sides["n_clusters"].max()) + self.quota + 2),
            deadlines=_grown(arrays.deadlines, self._deadlines_to_come(deadlines)),
        )

    def _deadlines_to_come(self, more: int) -> int:
        """How many deadlines one side may have at most, after as many objects as there must be room for.

        Of more streams, each ending may set one for every stream that has ended the value, and all on one side.
        """
        sides, n = self.sides, self.n_streams
        to_end = sides["n_pending"] + sides["n_clusters"]
        if n == 2:
            return int(sides["n_deadlines"].max() + to_end.max()) + more + 2 * self.quota + 4
        return int(sides["n_deadlines"].sum()) + n * (int(to_end.sum()) + more + 2 * self.quota + 4)

    def grow_pairs(self) -> None:
        """Twice the room for results, for a tuple with more matches than the buffer holds."""
        self._replace(pairs=np.empty((self.n_streams, 2 * self.arrays.pairs.shape[1]), np.int32))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that hold state; output buffers are scratch space."""
        arrays = {name: array for name, array in self.arrays._asdict().items() if name not in SCRATCH}
        return int(sum(array.nbytes for array in arrays.values()))


def _edges(capacities: Sequence[int]) -> lay.Ints:
    """Where the rings of all sides begin, one behind the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(capacities)])


def _set_rings(sides: lay.Records, edges: lay.Ints) -> None:
    """Empty rings from each edge to the next one."""
    sides["ring_start"] = sides["head"] = edges[:-1]
    sides["ring_stop"] = edges[1:]


def _grown(array: npt.NDArray[T], needed: int) -> npt.NDArray[T]:
    """The array itself, or a longer copy if its last dimension does not exceed `needed`; what is new is not set."""
    if array.shape[-1] > needed:
        return array
    fresh = np.empty((*array.shape[:-1], 2 * needed + SMALLEST), array.dtype)
    fresh.view(np.uint8)[..., : array.shape[-1] * array.itemsize] = array.view(np.uint8)  # else field by field
    return fresh
