"""Groups of kernels that are compiled together, which of them a join needs, and how they are loaded.

Once its groups are loaded, a join compiles nothing more. Kernels are loaded by calling them: on small joins, or on
empty arrays if a join would call kernels of other groups, too.
"""

from dataclasses import replace
from enum import Enum
from functools import partial

import numpy as np
import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.exchange.parcels import read_parcels, write_parcels
from punctuated.exchange.spread import spread
from punctuated.intake.prepare import merge_order, prepare_batch
from punctuated.intake.reading import Reader
from punctuated.kernels.batch import finish_batch, sweep_ended
from punctuated.kernels.layout import Objects
from punctuated.kernels.order import has_ties
from punctuated.kernels.sequences import apply_keyed
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import PJOIN, PWJOIN, pair
from punctuated.model.batch import StreamBatch
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.reach import reach_within
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow, UntilWindow, Window
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.group_by import GroupBy, number_groups, read_only
from punctuated.output.groups.grouping import Grouping
from punctuated.snapshot.journal import Journal, restore

_ROWS = 3_000  # enough for a state to grow
_COLUMNS = ("key", "ts", "last", "until")
_KEY_TYPES = pa.int64(), pa.string()  # keys that are codes, and keys that are numbered


class Kernels(Enum):
    """A group of kernels; those that take longest to compile come first. The value is the end of names of files.

    The support of a loop is what its join needs outside of the loop: arrays grow, a state is saved and loaded.
    """

    FOUR_STREAMS = ".four"  # the loop of up to four streams in one join
    EIGHT_STREAMS = ".eight"  # and of up to eight
    TWO_STREAMS = ".values"  # the loop of two streams
    OWN_WINDOWS = ".expiries"  # the loop of two streams if every tuple has a window of its own
    STRUCTURES = ".pairs"  # the loop of two streams whose windows have structures, such as trees
    TWO_STREAMS_SUPPORT = ".values.around"
    OWN_WINDOWS_SUPPORT = ".expiries.around"
    STRUCTURES_SUPPORT = ".pairs.around"
    FOUR_STREAMS_SUPPORT = ".four.around"
    EIGHT_STREAMS_SUPPORT = ".eight.around"
    EXCHANGE = ".exchange"  # how keys are read and spread; for every join
    SUMS = ".sums"  # exact sums of groups
    GROUPS = ".groups"  # how results find their groups
    TWO_STREAMS_SPILL = ".cold"  # what a join also needs if values may be on disk
    OWN_WINDOWS_SPILL = ".cold.expiries"
    FOUR_STREAMS_SPILL = ".cold.four"
    EIGHT_STREAMS_SPILL = ".cold.eight"
    STAGES = ".stages"  # what a staged join also needs

    @property
    def loop(self) -> "Kernels":
        """The loop that these kernels support or are added to; of a loop, the loop itself."""
        return _LOOPS.get(self, self)

    @property
    def goes_beyond_memory(self) -> bool:
        """Whether they are for joins whose state may be on disk."""
        return self in SPILL.values() or self is Kernels.STAGES

    @property
    def builds_on(self) -> "tuple[Kernels, ...]":
        """Groups that are loaded first, since this one is loaded by running a whole join."""
        if self is Kernels.STRUCTURES_SUPPORT:  # structures, and what is around any loop of two streams
            return Kernels.STRUCTURES, Kernels.TWO_STREAMS_SUPPORT, Kernels.EXCHANGE
        return (self.loop, SUPPORT[self.loop], Kernels.EXCHANGE) if self.goes_beyond_memory else ()


SUPPORT = {
    Kernels.TWO_STREAMS: Kernels.TWO_STREAMS_SUPPORT,
    Kernels.OWN_WINDOWS: Kernels.OWN_WINDOWS_SUPPORT,
    Kernels.STRUCTURES: Kernels.STRUCTURES_SUPPORT,
    Kernels.FOUR_STREAMS: Kernels.FOUR_STREAMS_SUPPORT,
    Kernels.EIGHT_STREAMS: Kernels.EIGHT_STREAMS_SUPPORT,
}


SPILL = {
    Kernels.TWO_STREAMS: Kernels.TWO_STREAMS_SPILL,
    Kernels.OWN_WINDOWS: Kernels.OWN_WINDOWS_SPILL,
    Kernels.FOUR_STREAMS: Kernels.FOUR_STREAMS_SPILL,
    Kernels.EIGHT_STREAMS: Kernels.EIGHT_STREAMS_SPILL,
}


_LOOPS = {more: loop for kinds in (SUPPORT, SPILL) for loop, more in kinds.items()} | {
    Kernels.STAGES: Kernels.TWO_STREAMS
}


def kernels_of(spec: JoinSpec, grouping: Grouping | None = None) -> tuple[Kernels, ...]:
    """What a join and its groups need; what takes longest comes first."""
    loop = _loop_of(spec)
    needed = [loop, SUPPORT[loop], Kernels.EXCHANGE]
    if grouping is not None:
        needed.append(Kernels.GROUPS)
    if grouping is not None and any(each.kind.needs_sums for each in grouping.aggregates.values()):
        needed.append(Kernels.SUMS)
    if spec.is_staged:
        needed.append(Kernels.STAGES)
    elif spec.memory is not None:
        needed.append(SPILL[loop])
    return tuple(needed)


def _loop_of(spec: JoinSpec) -> Kernels:
    if spec.reaches:
        return Kernels.FOUR_STREAMS if len(spec.streams) <= 4 else Kernels.EIGHT_STREAMS
    if spec.algorithm.structures is not None:
        return Kernels.STRUCTURES
    return Kernels.OWN_WINDOWS if spec.own_windows else Kernels.TWO_STREAMS


# Loading


def load_kernels(kernels: Kernels) -> None:
    """Load one group of kernels, or compile it, and as little else as possible."""
    if kernels.builds_on:
        run_small_join(kernels)
    elif kernels in SUPPORT:
        _load_loop(_join(pa.int64(), kernels).driver())
    elif kernels in SUPPORT.values():
        _load_around(_join(pa.int64(), kernels))
    elif kernels is Kernels.EXCHANGE:
        for key_type in _KEY_TYPES:
            _load_intake(_join(key_type, Kernels.TWO_STREAMS))
        for key_type in (*_KEY_TYPES, pa.float64()):  # codes of floats are computed, not read from Arrow's memory
            deal(key_type)
    elif kernels is Kernels.GROUPS:
        _load_groups()
    else:
        assert kernels is Kernels.SUMS
        _load_sums()


def run_small_join(kernels: Kernels) -> None:
    """A whole join: on tables, in buckets, saved and restored."""
    for key_type in _KEY_TYPES:
        join = _join(key_type, kernels)
        driver, journal, entries = join.driver(), Journal(), []
        for first in (0, _ROWS):
            driver.process(*(_parcelled(reader, first) for reader in join.inputs))
            entries.append(journal.write(driver))
        restored = join.driver()
        restore(restored, entries)
        restored.process(*(StreamBatch(_rows(2 * _ROWS, key_type)) for _ in join.inputs))
        if join.spec.may_spill:
            restored.end()  # values on disk come out by a way of their own


def _load_loop(driver: JoinDriver) -> None:
    """The loop over no objects, and the end of that batch."""
    nothing = [_no_objects() for _ in driver.spec.sides]
    driver.tactic.expect(nothing)
    driver.tactic.run(np.empty(0, np.int64), 0, 0, nothing)
    finish_batch(driver.state.arrays)


def _no_objects() -> Objects:
    """Read-only, as those of a batch are."""
    ints, small = np.empty(0, np.int64), np.empty(0, np.uint8)
    ints.flags.writeable = small.flags.writeable = False
    return Objects(ints, ints, small, ints, ints, ints, small, ints, ints, ints)


def _load_around(join: BoundJoin) -> None:
    """An empty state grows, is tidied up, saved and loaded."""
    driver, journal = join.driver(), Journal()
    driver.state.compact()
    driver.state.sweep()
    sweep_ended(driver.state.arrays)
    driver.punctuations.memory.archive(driver.state)
    entries = [journal.write(driver), journal.write(driver)]
    restore(join.driver(), entries)
    rows, gone = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    for each in (gone, read_only(gone)):
        apply_keyed(rows, rows, each)  # what a later batch has changed


def _load_intake(join: BoundJoin) -> None:
    """Batches come out of an exchange, and their objects are sorted."""
    driver, objects = join.driver(), []
    for side, reader in enumerate(join.inputs):
        encode = partial(driver.tactic.encode, side)
        intake = prepare_batch(
            reader.stream, _parcelled(reader, 0), driver.codec, driver.state.sides[side], encode, False
        )
        intake.close()
        objects.append(intake.objects)
    merge_order(objects)
    has_ties(np.empty(0, np.int64))  # as batches of tables are read


def deal(key_type: pa.DataType) -> None:
    """Rows go to several buckets."""
    reader = _join(key_type, Kernels.TWO_STREAMS).inputs[0]
    spread(reader.stream, StreamBatch(_rows(0, key_type)), reader.types, 2)


def _load_groups() -> None:
    """Results find their groups."""
    rows = pa.table({"key": [1, 2, 1]})
    number_groups(rows.slice(0, 0), rows)


def _load_sums() -> None:
    """A sum of floating-point numbers."""
    rows = pa.table({"key": [1, 2], "value": [0.5, 1.5]})
    groups = GroupBy(rows.schema, ["key"], ["key"], {"sum": Aggregate("sum", "value")})
    groups.process(BatchResult([rows], ended=True))


# Small joins


def _join(key_type: pa.DataType, kernels: Kernels) -> BoundJoin:
    spec, schema = small_spec(kernels), _rows(0, key_type).schema
    return BoundJoin(spec, tuple(Reader(stream, None, schema, (key_type,)) for stream in spec.streams))


def small_spec(kernels: Kernels) -> JoinSpec:
    """A join that needs these kernels."""
    spec = _spec_of_loop(kernels.loop)
    if kernels is Kernels.STAGES:
        streams = tuple(replace(stream, window=None) for stream in spec.streams)
        spec = replace(spec, streams=streams, algorithm=PJOIN, policy=Policy())
    return replace(spec, memory=Memory(tuples=_ROWS // 2)) if kernels.goes_beyond_memory else spec


def _spec_of_loop(loop: Kernels) -> JoinSpec:
    paired = loop is Kernels.STRUCTURES
    window = UntilWindow("until") if loop is Kernels.OWN_WINDOWS else TimeWindow(_ROWS)
    names = {Kernels.FOUR_STREAMS: "ABC", Kernels.EIGHT_STREAMS: "ABCDE"}.get(loop, "AB")
    reaches = (reach_within(names, _ROWS),) if len(names) > 2 else ()
    streams = tuple(_stream(name, window, not paired) for name in names)
    return JoinSpec(streams, algorithm=pair("HT") if paired else PWJOIN, reaches=reaches)


def _stream(name: str, window: Window, punctuated: bool) -> StreamSpec:
    flag = "last" if punctuated else None
    return StreamSpec(name, _COLUMNS, ("key",), "ts", window, flag=flag, punctuated=punctuated)


def _parcelled(reader: Reader, first: int) -> StreamBatch:
    """A batch as it comes out of an exchange."""
    batch = StreamBatch(_rows(first, reader.types[0]))
    return read_parcels(reader.cast_schema, write_parcels(spread(reader.stream, batch, reader.types, 1)))


def _rows(first: int, key_type: pa.DataType) -> pa.Table:
    numbers = np.arange(first, first + _ROWS)
    columns = [pa.array(numbers // 2).cast(key_type), pa.array(numbers), pa.array(numbers % 3 == 0)]
    return pa.table([*columns, pa.array(numbers + _ROWS)], names=_COLUMNS)
