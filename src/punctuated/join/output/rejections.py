"""How many rows of each stream were rejected, and why, from the start of the join."""

from collections.abc import Mapping, Sequence

import numpy as np

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels.layout import Records
from punctuated.model.counters import rejected_as
from punctuated.model.rejection import REJECTIONS

_COUNTS = "counts"


class Rejections:
    """Counts by reason and stream; they outlive a batch."""

    def __init__(self, n_streams: int) -> None:
        self._counts: dict[str, list[int]] = {reason: [0] * n_streams for reason in REJECTIONS}

    def add(self, side: int, reason: str, n_rows: int) -> None:
        """Rows of a stream were rejected."""
        self._counts[reason][side] += n_rows

    def add_entries(self, entries: Records) -> None:
        """Rows were rejected by the loop."""
        self._counts = self._with(entries)

    def counts(self, pending: Records) -> Mapping[str, Sequence[int]]:
        """By the names of their counters; `pending` are entries that are still to be added."""
        return {rejected_as(reason): counts for reason, counts in self._with(pending).items()}

    def _with(self, entries: Records) -> dict[str, list[int]]:
        if not len(entries):
            return self._counts
        counts = {reason: list(known) for reason, known in self._counts.items()}
        for code, reason in enumerate(REJECTIONS):
            sides = entries["side"][entries["reason"] == code]
            for side in range(len(counts[reason])):
                counts[reason][side] += int(np.sum(sides == side))
        return counts

    def save(self) -> Content:
        """The counts."""
        return Content({_COUNTS: to_json(self._counts)})

    def load(self, saved: Loaded) -> None:
        """Go on from `save`."""
        self._counts = from_json(saved.plain[_COUNTS])
