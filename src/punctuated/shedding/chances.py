"""What estimates must know of each result of a join that sheds: its two tuples, and with which chance they met."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from punctuated.intake.prepare import window_ends
from punctuated.kernels.layout import Indices
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, Side
from punctuated.model.times import to_microseconds
from punctuated.model.window import UntilWindow
from punctuated.shedding.coins import Ints, Shares, right_probes
from punctuated.shedding.control import ID, SHARE
from punctuated.shedding.estimates import PAIR_SCHEMA, pair_columns
from punctuated.state.rows import RowStore


@dataclass(frozen=True)
class Chances:
    """Of the pairs of one batch."""

    spec: JoinSpec
    rows: Sequence[RowStore]
    turns: tuple[Ints, ...]
    shares: Shares

    def add_to(self, table: pa.Table, left: Indices, right: Indices) -> pa.Table:
        """Results with the columns of `PAIR_SCHEMA`."""
        known = [self._known(side, rows) for side, rows in ((LEFT, left), (RIGHT, right))]
        ids, store, until = zip(*known, strict=True)
        base_rows = self.rows[LEFT].n_stored, self.rows[RIGHT].n_stored
        found_by_right = right_probes(np.stack([left, right]), base_rows, self.turns)
        columns = pair_columns(found_by_right, ids, self.shares.probe, store, until)
        for field, column in zip(PAIR_SCHEMA, columns, strict=True):
            table = table.append_column(field, column)
        return table

    def _known(
        self, side: Side, rows: Indices
    ) -> tuple[Ints, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", Ints]:
        stream = self.spec.streams[side]
        own = [stream.window.column] if isinstance(stream.window, UntilWindow) else []
        taken = self.rows[side].take(rows, list(dict.fromkeys([ID, SHARE, stream.time, *own])))
        until = window_ends(stream, taken, to_microseconds(taken.column(2), stream.time))
        return np.asarray(taken.column(0)), np.asarray(taken.column(1)), until
