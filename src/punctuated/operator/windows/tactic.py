"""Asymmetric window joins: each window has a structure of its own, which the other stream searches (KN-02, KN-06).

Two tuples match if their groups are equal and their intervals overlap. The group is the key's code, one for all if
there is no key; the interval comes from comparisons between one column of each side (KN-05). A structure names tuples
by their positions in the rings, so whatever moves nodes rebuilds the structures. Which structures are the cheapest is
chosen by rates that are counted in event time and saved with the state (KN-32, KN-38): a batch that is repeated leads
to the same choice.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from punctuated.arrow.ipc import from_json, to_json
from punctuated.errors import AlgorithmError
from punctuated.expressions.nodes import Expression
from punctuated.intake.prepare import TupleKeys
from punctuated.kernels import layout as lay
from punctuated.kernels.layout import FOREVER, NEVER, NO_PROBE, NO_STORE, NULL_KEY, Objects
from punctuated.kernels.windows.process import process_pairs
from punctuated.kernels.windows.structures import lacks_room
from punctuated.keys.codec import KeyCodec, NumberedKeys
from punctuated.model.algorithm import STRUCTURES
from punctuated.model.load import Chooser, Observation, matches_in, smoothed
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, Side
from punctuated.model.window import CountWindow
from punctuated.operator.family import Allow, Explained
from punctuated.operator.pwjoin.tactic import purge_line
from punctuated.operator.tactic import Tactic
from punctuated.operator.windows.indexes import BYTES_PER_KEY, BYTES_PER_LINK, WindowIndexes
from punctuated.operator.windows.predicate import HIGHEST, LOWEST, RangePredicate, split_predicate
from punctuated.output.collector import Collector
from punctuated.output.pairs import PairCollector
from punctuated.punctuations.memory import PunctuationState
from punctuated.snapshot.parts import Content, Ints, Loaded, SavedPart
from punctuated.spill.policy import SpillPolicy, Stored
from punctuated.spill.values import check_spilling
from punctuated.state.arrays import SMALLEST, JoinState
from punctuated.state.rows import RowStore, ring_positions
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import TableStore

# What is known of the streams


class WindowStatistics:
    """Rates and results, smoothed over batches."""

    def __init__(self) -> None:
        self._counted = np.zeros((3, len(Side)), np.int64)  # came, probed, were stored
        self._seen: list[int] | None = None  # newest time and totals after the last batch
        self._smooth: tuple[float, ...] | None = None

    def count(self, objects: Sequence[Objects]) -> None:
        """Count the tuples of a batch as they come to the loop, where those that are shed are marked (KN-38)."""
        for side in Side:
            status = objects[side].status
            keyed = status & NULL_KEY == 0
            probing, stored = (keyed & (status & shed == 0) for shed in (NO_PROBE, NO_STORE))
            self._counted[:, side] += np.array([status.size, np.count_nonzero(probing), np.count_nonzero(stored)])

    def observe(self, state: JoinState) -> Observation | None:
        """What is known after another batch; None until two batches tell how fast the streams are."""
        times = [int(time) for time in state.sides["newest"] if NEVER < time < FOREVER]
        before = self._seen
        totals = [max(times, default=0), *self._counted.ravel().tolist(), int(state.common["results"][0])]
        self._seen = totals
        if before is None or totals[0] <= before[0]:
            return None
        seconds = (totals[0] - before[0]) / 1e6
        self._smooth = smoothed(
            self._smooth, [(now - was) / seconds for now, was in zip(totals, before, strict=True)][1:]
        )
        *rates, results = self._smooth
        came, probing, storing = ((rates[i], rates[i + 1]) for i in (0, 2, 4))
        in_left, in_right = state.sides["live"].tolist()
        windows = float(in_left), float(in_right)
        return Observation(came, probing, storing, windows, matches_in(probing, windows, results))

    def save(self) -> Content:
        """What was counted and smoothed so far."""
        return Content({"observed": to_json([self._counted.tolist(), self._seen, self._smooth])})

    def load(self, saved: Loaded) -> None:
        """Go on where `save` was."""
        counted, self._seen, smooth = from_json(saved.plain["observed"])
        self._counted = np.array(counted, np.int64)
        self._smooth = None if smooth is None else tuple(smooth)


# The state


class WindowState(JoinState):
    """The arrays that the loop over structures works on."""

    def __init__(self, spec: JoinSpec, allow: Callable[[int], None], *, filtered: bool, hash_bits: int) -> None:
        super().__init__(spec, allow, filtered=filtered, hash_bits=hash_bits)
        assert spec.algorithm.structures is not None
        self.indexes = WindowIndexes(spec.algorithm.structures, spec.node_size, spec.bucket_size, 2 * SMALLEST)
        self.indexes.arrays.sides["head"] = self.sides["head"]
        self.found = np.empty(2 * SMALLEST, np.int32)  # scratch: what a probe of a structure gave

    def make_room(self, deadlines: int = 0) -> bool:
        """See to it that every buffer and every structure can take one more object; returns whether any changed."""
        grown = super().make_room(deadlines)
        if not lacks_room(self.indexes.arrays):
            return grown
        self.indexes.grow()
        return True

    def copy_rings(self, more: Sequence[int] | None = None) -> None:
        """Nodes get other positions, so the structures are built anew."""
        keys = self._indexed_keys()
        super().copy_rings(more)
        self._load_index(*keys)

    @property
    def bytes_per_node(self) -> int:
        """The bytes that room for one more tuple takes, its entry in a structure included."""
        return super().bytes_per_node + BYTES_PER_KEY + BYTES_PER_LINK

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that hold state, structures included."""
        return super().nbytes + self.indexes.nbytes

    def groups(self) -> Ints:
        """Codes of the keys of all tuples in the structures."""
        return self._indexed_keys()[0]

    def regroup(self, moved: Ints) -> None:
        """Follow keys that were numbered anew."""
        group, *others = self._indexed_keys()
        self._load_index(moved[group], *others)

    def restructure(self, structures: tuple[str, str]) -> None:
        """Other structures over the same windows."""
        keys = self._indexed_keys()
        self.indexes.structures = structures
        self._load_index(*keys)

    def index_nodes(self, positions: tuple[Ints, Ints], group: Ints, low: Ints, high: Ints) -> None:
        """Tuples of both sides, oldest first, enter empty structures."""
        nodes, places = self.arrays.nodes, np.concatenate(positions)
        matching = low <= high
        nodes["mark"] &= ~lay.INDEXED
        nodes["mark"][places[matching]] |= lay.INDEXED
        first = int(self.common["seq"][0]) - places.size
        number = np.concatenate([first + np.arange(each.size) for each in positions])
        self._load_index(*(each[matching] for each in (group, low, high, number)))

    def _indexed(self, side: Side) -> Ints:
        """Positions of the tuples in a side's structure, oldest first."""
        positions = self.positions(side)
        nodes = self.arrays.nodes[positions]
        return np.asarray(positions[(nodes["value"] >= 0) & (nodes["mark"] & (lay.INDEXED | lay.DEAD) == lay.INDEXED)])

    def _indexed_keys(self) -> list[Ints]:
        positions = np.concatenate([self._indexed(side) for side in Side])
        index = self.indexes.arrays
        return [each[positions] for each in (index.group, index.low, index.high, index.number)]

    def _load_index(self, *keys: Ints) -> None:
        """Structures anew for the tuples that are marked; keys of the left ones first, oldest first."""
        nodes, size = self.arrays.nodes, self.arrays.nodes.size
        nodes["mark"][nodes["mark"] & lay.DEAD != 0] &= ~lay.INDEXED
        self.indexes.reload(size, self._indexed(Side.LEFT), self._indexed(Side.RIGHT), *keys)
        self.indexes.arrays.sides["head"] = self.sides["head"]
        self.found = np.empty(size, np.int32)


# The tactic


class WindowPair:
    """Tuples are kept by windows; the structures may change between batches, if there is a `chooser`."""

    def __init__(
        self,
        spec: JoinSpec,
        codec: KeyCodec,
        state: WindowState,
        ranged: RangePredicate | None,
        chooser: Chooser | None,
    ) -> None:
        self._spec, self._codec, self._ranged, self._chooser = spec, codec, ranged, chooser
        self.state = state
        self._statistics = WindowStatistics()
        self.parts: dict[str, SavedPart] = {"structures": self, "statistics": self._statistics}

    def encode(self, side: int, rows: pa.Table) -> TupleKeys:
        """Groups and intervals; one value holds all tuples. An interval that is empty matches nothing."""
        n, key = len(rows), self._spec.streams[side].key
        group, valid = np.zeros(n, np.int64), np.ones(n, np.bool_)
        if key:
            group, valid = self._codec.encode([rows[name] for name in key])
        low = high = np.zeros(n, np.int64)
        if self._ranged is not None:
            low, high, matches = self._ranged.intervals(side, rows)
            low, high = np.where(matches, low, HIGHEST), np.where(matches, high, LOWEST)
        return TupleKeys(self.node_codes(side, rows), valid, group, low, high)

    def expect(self, objects: Sequence[Objects]) -> None:
        """Count them, for the choice of structures."""
        if self._chooser is not None:
            self._statistics.count(objects)

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """The loop over structures."""
        state, (left, right) = self.state, inputs
        return int(process_pairs(order, at, stop, left, right, state.arrays, state.indexes.arrays, state.found))

    def node_codes(self, side: int, rows: pa.Table) -> Ints:
        """The codes of the values that hold these tuples: one value holds all."""
        return np.zeros(len(rows), np.int64)

    def forget_keys(self, punctuations: PunctuationState) -> None:
        """Numbered keys that no tuple in the windows has any more go."""
        if isinstance(self._codec, NumberedKeys):
            moved = self._codec.keep_only(np.unique(self.state.groups()))
            if moved is not None:
                self.state.regroup(moved)

    @property
    def structures(self) -> tuple[str, str]:
        """The structures on the left and the right window at present."""
        return self.state.indexes.structures

    def adapt(self) -> None:
        """Rates may have shifted: the windows get the structures that are cheapest now (KN-32)."""
        if self._chooser is None:
            return
        seen = self._statistics.observe(self.state)
        if seen is not None and (chosen := self._chooser(seen, self.structures)) != self.structures:
            self.state.restructure(chosen)

    def resume(self, rows: tuple[RowStore, ...]) -> None:
        """Stored tuples enter the structures of their windows anew."""
        positions = [ring_positions(self.state, side) for side in Side]
        keys = []
        for side in Side:
            numbers = self.state.arrays.nodes["row"][positions[side]]
            keys.append(self.encode(side, rows[side].take(numbers, list(self._spec.streams[side].columns))))
        group, low, high = (np.concatenate(both) for both in zip(*(each[2:] for each in keys), strict=True))
        self.state.index_nodes((positions[LEFT], positions[RIGHT]), group, low, high)

    def save(self) -> Content:
        """Which structures were chosen: a join that goes on elsewhere goes on with these."""
        return Content({"chosen": to_json(self.structures)})

    def load(self, saved: Loaded) -> None:
        """Go on with the structures of `save`."""
        if self._chooser is not None:
            self.state.indexes.structures = from_json(saved.plain["chosen"])


# The family


class WindowStructures:
    """Pairs of structures, one on each window: nested loops, hash buckets, B+trees, T-trees."""

    def check(self, spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]) -> None:
        """Raise if the structures cannot serve the join."""
        assert spec.algorithm.structures is not None
        for stream in spec.streams:
            if stream.punctuated and stream.key:
                raise AlgorithmError(
                    f"algorithm={spec.algorithm.name!r} joins by windows alone, and stream {stream.name!r} is "
                    "punctuated; use 'auto' or 'pwjoin', or leave out punctuations="
                )
            if isinstance(stream.window, CountWindow) and stream.window.per_key:
                raise AlgorithmError(
                    f"algorithm={spec.algorithm.name!r} has no windows per key, as stream {stream.name!r} has; use "
                    "'auto'"
                )
        ranged, _ = split_predicate(where, schemas)
        for letter in spec.algorithm.structures:
            _check_structure(letter, has_key=bool(spec.left.key), has_range=ranged is not None)
        check_spilling(spec, looks_through_windows=True)

    def build(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow
    ) -> tuple[Tactic, Collector]:
        """Structures over both windows, which serve a part of the extra predicate; the collector decides the rest."""
        ranged, rest = split_predicate(setup.where, setup.schemas)
        state = WindowState(setup.spec, allow, filtered=rest is not None, hash_bits=setup.hash_bits)
        tactic = WindowPair(setup.spec, codec, state, ranged, setup.chooser)
        return tactic, PairCollector(setup, codec, rows, rest)

    def spill(self, stored: Stored, store: TableStore) -> SpillPolicy:
        """Never asked for: `check` refuses `memory=`."""
        raise AssertionError("structures of windows have no memory=")

    def explain(self, spec: JoinSpec) -> Iterator[Explained]:
        """The structure on each window."""
        assert spec.algorithm.structures is not None
        yield purge_line(spec)
        pairs = zip(spec.algorithm.structures, spec.streams, strict=True)
        named = [f"{STRUCTURES[letter]} on {stream.name}" for letter, stream in pairs]
        yield Explained("structures", ", ".join(named) + ("; may change while it runs" if spec.adaptive else ""))


def _check_structure(letter: str, has_key: bool, has_range: bool) -> None:
    if letter == "H" and not has_key:
        raise AlgorithmError("structure H (hash buckets) serves equal keys only; without a key use T, B or N")
    if letter in "BT" and not has_key and not has_range:
        raise AlgorithmError(
            f"structure {letter} ({STRUCTURES[letter]}) needs a key, or in where= a comparison between one number or "
            "time of each side, such as pt.band(…); for any other predicate use N"
        )


FAMILY = WindowStructures()
