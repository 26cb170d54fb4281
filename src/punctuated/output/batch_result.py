"""What one batch brings, as Arrow tables."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels.layout import NEVER
from punctuated.output.punctuations import Told
from punctuated.output.rejected import Rejected
from punctuated.punctuations.pending_ranges import OutputRange

Ints = npt.NDArray[np.int64]


@dataclass
class BatchResult:
    """What one batch brings. Times are microseconds; `result_ts` has the time of each row of `results`, if wanted."""

    results: list[pa.Table] = field(default_factory=list)
    result_ts: list[Ints] = field(default_factory=list)
    punctuations: list[Told] = field(default_factory=list)
    ranges: list[OutputRange] = field(default_factory=list)  # the ranges among them, with one pattern per key column
    rejected: list[Rejected] = field(default_factory=list)
    watermark: int = NEVER
    horizon: int = NEVER  # no row so far is later
    ended: bool = False
    structures: tuple[str, str] | None = None  # of the windows, for the next batch

    def then(self, later: "BatchResult") -> "BatchResult":
        """This and what another batch brought after it, as one."""
        return BatchResult(
            self.results + later.results,
            self.result_ts + later.result_ts,
            self.punctuations + later.punctuations,
            self.ranges + later.ranges,
            self.rejected + later.rejected,
            later.watermark,
            later.horizon,
            later.ended,
            later.structures,
        )
