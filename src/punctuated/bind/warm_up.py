"""Kernels are compiled once per host: whoever comes first compiles what every join needs, the others wait and load it.

Without this, all workers of a host would compile the same kernels at the same time in their first task.
"""

import fcntl
import hashlib
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.join.exchange.parcels import read_parcels, write_parcels
from punctuated.join.exchange.spread import spread
from punctuated.join.intake.reading import Reader
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.group_by import GroupBy
from punctuated.join.state.journal import Journal, restore
from punctuated.kernels._code_cache import code_folder
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import PJOIN, PWJOIN, pair
from punctuated.model.batch import StreamBatch
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.reach import reach_within
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow, UntilWindow, Window
from punctuated.private_folder import do_without

_ROWS = 3_000  # enough for a state to grow
_COLUMNS = ("key", "ts", "last", "until")


class Kernels(Enum):
    """What is compiled together: a kind of join."""

    OF_VALUES = ""
    OF_EXPIRIES = ".expiries"  # the same, every tuple with a window of its own
    OF_PAIRS = ".pairs"  # its windows have structures of their own
    OF_FOUR = ".four"  # up to four streams in one join, and up to eight
    OF_EIGHT = ".eight"
    OF_COLD = ".cold"  # what any of these needs besides, if values may be on disk
    OF_COLD_EXPIRIES = ".cold.expiries"
    OF_COLD_FOUR = ".cold.four"
    OF_COLD_EIGHT = ".cold.eight"
    OF_STAGES = ".stages"  # and a join of values that works in stages

    @property
    def in_memory(self) -> "Kernels":
        """Those of the same join if all of it is in memory."""
        return _IN_MEMORY.get(self, self)


_COLD = {
    Kernels.OF_VALUES: Kernels.OF_COLD,
    Kernels.OF_EXPIRIES: Kernels.OF_COLD_EXPIRIES,
    Kernels.OF_FOUR: Kernels.OF_COLD_FOUR,
    Kernels.OF_EIGHT: Kernels.OF_COLD_EIGHT,
}
_IN_MEMORY = {cold: warm for warm, cold in _COLD.items()} | {Kernels.OF_STAGES: Kernels.OF_VALUES}


def kernels_of(spec: JoinSpec) -> Kernels:
    """What a join needs."""
    if spec.is_staged:
        return Kernels.OF_STAGES
    kernels = _in_memory(spec)
    return _COLD[kernels] if spec.memory is not None else kernels


def _in_memory(spec: JoinSpec) -> Kernels:
    if spec.reaches:
        return Kernels.OF_FOUR if len(spec.streams) <= 4 else Kernels.OF_EIGHT
    if spec.algorithm.structures is not None:
        return Kernels.OF_PAIRS
    return Kernels.OF_EXPIRIES if spec.own_windows else Kernels.OF_VALUES


@cache
def compile_once(kernels: Kernels = Kernels.OF_VALUES) -> None:
    """See to it that the kernels of a join are compiled on this host.

    Where machine code cannot be kept, each process compiles what it needs when it needs it.
    """
    if kernels.in_memory is not kernels:
        compile_once(kernels.in_memory)
    folder = code_folder()
    if folder is None:
        return
    installed = hashlib.sha256(str(Path(__file__).parent).encode()).hexdigest()[:16]  # numba's cache depends on it
    ready = folder / f"{installed}{kernels.value}.ready"
    if ready.exists():
        return
    try:
        lock = ready.with_suffix(".lock").open("w")
    except OSError as trouble:
        do_without("machine code cannot be kept for other processes", trouble)
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            load_kernels(kernels)
            with suppress(OSError):  # a disk that is full; the next process looks again
                ready.touch()


def load_kernels(kernels: Kernels = Kernels.OF_VALUES) -> None:
    """Run everything that is compiled on a small join: as tables, in buckets, and saved and restored; and on groups."""
    for key_type in (pa.int64(), pa.string()):
        join = _join(key_type, kernels)
        driver, journal, entries = join.driver(), Journal(), []
        for first in (0, _ROWS):
            driver.process(*(_parcelled(reader, first) for reader in join.inputs))
            entries.append(journal.write(driver))
        restored = join.driver()
        restore(restored, entries)
        restored.process(*(StreamBatch(_rows(2 * _ROWS, key_type)) for _ in join.inputs))
        if join.spec.may_overflow:
            restored.end()  # which values on disk are told by themselves
    _add_up()


def _add_up() -> None:
    rows = pa.table({"key": [1, 2], "value": [0.5, 1.5]})
    groups = GroupBy(rows.schema, ["key"], ["key"], {"sum": Aggregate("sum", "value")})
    groups.process(BatchResult([rows], ended=True))


def _join(key_type: pa.DataType, kernels: Kernels) -> BoundJoin:
    spec = _spec(kernels.in_memory)
    if kernels is Kernels.OF_STAGES:
        streams = tuple(replace(stream, window=None) for stream in spec.streams)
        spec = replace(spec, streams=streams, algorithm=PJOIN, policy=Policy())
    if kernels.in_memory is not kernels:
        spec = replace(spec, memory=Memory(tuples=_ROWS // 2))
    schema = _rows(0, key_type).schema
    return BoundJoin(spec, tuple(Reader(stream, None, schema, (key_type,)) for stream in spec.streams))


def _spec(kernels: Kernels) -> JoinSpec:
    paired = kernels is Kernels.OF_PAIRS
    window = UntilWindow("until") if kernels is Kernels.OF_EXPIRIES else TimeWindow(_ROWS)
    names = {Kernels.OF_FOUR: "ABC", Kernels.OF_EIGHT: "ABCDE"}.get(kernels, "AB")
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
