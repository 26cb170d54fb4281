"""How many rows of each stream were rejected, and why, from the start of the join."""

from collections.abc import Mapping, Sequence

import numpy as np

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels.layout import Records
from punctuated.model.counters import rejected_as
from punctuated.model.rejection import REJECTIONS

_COUNTS = "counts"
_CODES = {reason: code for code, reason in enumerate(REJECTIONS)}


class Rejections:
    """Counts by reason and stream; they outlive a batch."""

    def __init__(self, n_streams: int) -> None:
        self._counts = np.zeros((len(REJECTIONS), n_streams), np.int64)  # reasons by the kernels' codes

    def add(self, side: int, reason: str, n_rows: int) -> None:
        """Rows of a stream were rejected."""
        self._counts[_CODES[reason], side] += n_rows

    def add_entries(self, entries: Records) -> None:
        """Rows were rejected by the loop."""
        np.add.at(self._counts, (entries["reason"], entries["side"]), 1)

    def counts(self, pending: Records) -> Mapping[str, Sequence[int]]:
        """By the names of their counters; `pending` are entries that are still to be added."""
        counts = self._counts.copy()
        np.add.at(counts, (pending["reason"], pending["side"]), 1)
        return {rejected_as(reason): counts[code].tolist() for reason, code in _CODES.items()}

    def save(self) -> Content:
        """The counts."""
        return Content({_COUNTS: to_json({reason: self._counts[code].tolist() for reason, code in _CODES.items()})})

    def load(self, saved: Loaded) -> None:
        """Continue from what `save` gave."""
        for reason, counts in from_json(saved.plain[_COUNTS]).items():
            self._counts[_CODES[reason]] = counts
