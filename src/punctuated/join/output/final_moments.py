"""When groups become final, for groups that go on as a stream.

A group's moment is that of the punctuation that ended its value. It is not earlier than any of its results, nor earlier
than the output watermark.
"""

import numpy as np
import pyarrow as pa

from punctuated.join.output.aggregates.accumulator import Ints, lengthen
from punctuated.kernels.layout import FOREVER, NEVER


class FinalMoments:
    """The latest result of each open group, by the group's number, and how far the output is."""

    def __init__(self) -> None:
        self._latest = np.empty(0, np.int64)
        self._reached = NEVER

    def add(self, groups: Ints, n_groups: int, ts: Ints) -> None:
        """Results of these times belong to the groups beside them."""
        self._latest = lengthen(self._latest, n_groups, NEVER)
        np.maximum.at(self._latest, groups, ts)

    def take(self, ended_at: Ints, watermark: int) -> Ints:
        """The moments of the groups that have ended, which are then forgotten; takes the watermark after the batch."""
        final = ended_at != FOREVER
        moments: Ints = np.maximum(np.maximum(ended_at, self._latest), self._reached)[final]
        self._latest = self._latest[~final]
        self._reached = max(self._reached, watermark)
        return moments

    def save(self) -> pa.Table:
        """Everything as a table: how far the output is, then the groups."""
        return pa.table({"latest": np.concatenate([[self._reached], self._latest])})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        latest = np.array(saved["latest"])
        self._reached, self._latest = int(latest[0]), latest[1:]
