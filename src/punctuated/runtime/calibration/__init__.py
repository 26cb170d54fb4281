"""Calibration: measures what structures and the index of values cost on this machine, for plans to go by (KN-18).

A line's slope, less that of tuples which neither search nor are stored, and divided by the tuples that the model says
are touched, is the weight. The paper has two weights per structure (`Calibration.plain`). Today they do not suffice to
tell which structure wins: nested loops pay for every match, and twice as much for ranges as for equal keys; an update
of a tree has a fixed part, and its nodes are not full; a search of hash buckets waits for the caches. So
`Calibration.weights` are fitted to windows of several sizes, with more costs beside P and I (see `Weight`), for either
kind of predicate; and the index of values is measured beside the pairs of structures.

It measures joins, so it imports what stands below `runtime` in docs/contributing/architecture.md. Tests are in
`tests/runtime`.
"""

from dataclasses import dataclass, replace

from punctuated.plan.cost.weights import Weights
from punctuated.runtime.calibration.fit import fitted_weights, in_a_join, line_costs, plain_weights, value_index_weight
from punctuated.runtime.calibration.lines import MeasuredLine, Progress, Setting, measure_lines

_LONGEST_S = 6e-3  # of CPU, of the batch with the highest rate
_JOIN_TUPLES = 60_000


@dataclass(frozen=True)
class Calibration:
    """Weights of this machine, and the lines that they were read off."""

    weights: Weights
    plain: Weights  # only what the paper has: P and I
    lines: tuple[MeasuredLine, ...]

    @property
    def usual_lines(self) -> list[MeasuredLine]:
        """The lines that the plain weights are read off: equal keys, and the paper's window and bucket size."""
        return [line for line in self.lines if line.setting == Setting(line.setting.structure, line.setting.work)]


def calibrate(progress: Progress | None = None, *, effort: float = 1.0) -> Calibration:
    """Measure the weights of all structures and of the index of values, in about 20 seconds.

    Args:
        progress: Called with the share done so far.
        effort: Multiplies the length of all runs.
    """
    lines = measure_lines(_LONGEST_S * effort, progress)
    costs, n = line_costs(lines), max(500, round(_JOIN_TUPLES * effort))
    equal, by_range = in_a_join(*fitted_weights(costs), n)
    weights = replace(equal, by_range=by_range, value_index=value_index_weight(n))
    if progress is not None:
        progress(1.0)
    return Calibration(weights, plain_weights(costs), tuple(lines))
