"""Loads or compiles kernels by calling them: on small joins, or on empty arrays if a join would call others, too."""

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.kernels import AROUND, Kernels
from punctuated.join.driver import JoinDriver
from punctuated.join.exchange.parcels import read_parcels, write_parcels
from punctuated.join.exchange.spread import spread
from punctuated.join.intake.merge_order import merge_order
from punctuated.join.intake.reading import Reader
from punctuated.join.intake.take_in import take_in
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.group_by import GroupBy
from punctuated.join.output.group_numbers import number_groups
from punctuated.join.state.journal import Journal, restore
from punctuated.kernels.batch import finish_batch, sweep_ended
from punctuated.kernels.layout import Objects
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import PJOIN, PWJOIN, pair
from punctuated.model.batch import StreamBatch
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.reach import reach_within
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow, UntilWindow, Window

_ROWS = 3_000  # enough for a state to grow
_COLUMNS = ("key", "ts", "last", "until")
_KEY_TYPES = pa.int64(), pa.string()  # keys that are codes, and keys that are numbered


def load_kernels(kernels: Kernels) -> None:
    """Load those of one kind, and as few others as possible."""
    if kernels.builds_on:
        run_small_join(kernels)
    elif kernels in AROUND:
        _load_loop(_join(pa.int64(), kernels).driver())
    elif kernels in AROUND.values():
        _load_around(_join(pa.int64(), kernels))
    elif kernels is Kernels.OF_EXCHANGE:
        for key_type in _KEY_TYPES:
            _take_in(_join(key_type, Kernels.OF_VALUES))
            deal(key_type)
    elif kernels is Kernels.OF_GROUPS:
        number_some()
    else:
        assert kernels is Kernels.OF_SUMS
        _add_up()


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
        if join.spec.may_overflow:
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
    driver.statements.memory.archive(driver.state)
    entries = [journal.write(driver), journal.write(driver)]
    restore(join.driver(), entries)


def _take_in(join: BoundJoin) -> None:
    """Batches come out of an exchange, and their objects are sorted."""
    driver, objects = join.driver(), []
    for side, reader in enumerate(join.inputs):
        encode = partial(driver.tactic.encode, side)
        intake = take_in(reader.stream, _parcelled(reader, 0), driver.codec, driver.state.sides[side], encode, False)
        intake.close()
        objects.append(intake.objects)
    merge_order(objects)


def deal(key_type: pa.DataType) -> None:
    """Rows go to several buckets."""
    reader = _join(key_type, Kernels.OF_VALUES).inputs[0]
    spread(reader.stream, StreamBatch(_rows(0, key_type)), reader.types, 2)


def number_some() -> None:
    """Results find their groups."""
    rows = pa.table({"key": [1, 2, 1]})
    number_groups(rows.slice(0, 0), rows)


def _add_up() -> None:
    rows = pa.table({"key": [1, 2], "value": [0.5, 1.5]})
    groups = GroupBy(rows.schema, ["key"], ["key"], {"sum": Aggregate("sum", "value")})
    groups.process(BatchResult([rows], ended=True))


def _join(key_type: pa.DataType, kernels: Kernels) -> BoundJoin:
    spec = _spec(kernels.loop)
    if kernels is Kernels.OF_STAGES:
        streams = tuple(replace(stream, window=None) for stream in spec.streams)
        spec = replace(spec, streams=streams, algorithm=PJOIN, policy=Policy())
    if kernels.goes_beyond_memory:
        spec = replace(spec, memory=Memory(tuples=_ROWS // 2))
    schema = _rows(0, key_type).schema
    return BoundJoin(spec, tuple(Reader(stream, None, schema, (key_type,)) for stream in spec.streams))


def _spec(loop: Kernels) -> JoinSpec:
    paired = loop is Kernels.OF_PAIRS
    window = UntilWindow("until") if loop is Kernels.OF_EXPIRIES else TimeWindow(_ROWS)
    names = {Kernels.OF_FOUR: "ABC", Kernels.OF_EIGHT: "ABCDE"}.get(loop, "AB")
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
