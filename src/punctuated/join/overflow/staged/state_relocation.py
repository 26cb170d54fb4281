"""State relocation: when memory is full, partitions leave it for the disk, the largest first (or the smallest)."""

import numpy as np

from punctuated.join.overflow.staged.disk_parts import with_stamps
from punctuated.join.overflow.staged.monitor import Monitor
from punctuated.join.overflow.staged.parted_state import PartedState
from punctuated.join.overflow.staged.partitions import InMemory
from punctuated.join.overflow.staged.stamps import StampClock
from punctuated.kernels.staged import SLOT_SHIFT, release_values

_FREED = 8  # a part of memory: it is looked for the largest partition once for all that must go


class StateRelocation:
    """Brings tuples to disk."""

    def __init__(self, parted: PartedState, monitor: Monitor, *, largest: bool) -> None:
        self._parted, self._monitor, self._largest = parted, monitor, largest

    def relocate(self) -> None:
        """Until an eighth of the memory is free."""
        assert self._monitor.limit is not None
        wanted = max(1, self._monitor.limit // _FREED)
        in_memory = [self._parted.in_memory(side) for side in range(2)]
        sizes = np.stack([np.bincount(each.partitions, minlength=self._parted.partitions.n) for each in in_memory])
        order = np.argsort(-sizes if self._largest else sizes, axis=None, kind="stable")
        stamp = self._parted.clock.tick()
        for place in order.tolist():
            if self._monitor.room >= wanted:
                break
            side, partition = divmod(place, self._parted.partitions.n)
            if sizes[side, partition]:
                ours = in_memory[side]
                self._flush(side, partition, ours.within(ours.partitions == partition), stamp)
        self._parted.note_disk()

    def _flush(self, side: int, partition: int, tuples: InMemory, stamp: int) -> None:
        state, rows = self._parted.state, self._parted.rows[side]
        nodes = state.arrays.nodes[tuples.positions]
        table = rows.take(np.ascontiguousarray(nodes["row"]), rows.schema.names).combine_chunks()
        arrived = StampClock.arrivals(state.arrays.seq[tuples.positions])
        stamped = with_stamps(table, tuples.codes, arrived, stamp, nodes["mark"] >> SLOT_SHIFT)
        self._parted.disk.add(side, partition, stamped, self._parted.index.built_to[side])
        release_values(state.arrays, side, np.unique(nodes["value"]).astype(np.int64))
