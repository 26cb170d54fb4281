"""Table 3 of Kang, Naughton and Viglas: three workloads and the printed cost of each pair (KN-31).

`punctuated cost table` shows them beside the costs of the model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from punctuated.plan.cost.crossover import SHOWN_PAIRS
from punctuated.plan.cost.inputs import Sides
from punctuated.plan.cost.model import unit_time_cost
from punctuated.plan.cost.weights import KANG_WEIGHTS, Weights


@dataclass(frozen=True)
class Workload:
    """A line of Table 3: windows, rates, and the printed cost of each pair."""

    windows: Sides
    rates: Sides
    printed: Mapping[str, float]

    def costs(self, weights: Weights = KANG_WEIGHTS) -> dict[str, float]:
        """The costs of the same pairs by the formulas.

        >>> round(PAPER_TABLE[0].costs()["TN"], 2), PAPER_TABLE[0].printed["TN"]
        (4.67, 4.67)
        """
        return {
            pair: unit_time_cost(pair, windows=self.windows, rates=self.rates, weights=weights) for pair in self.printed
        }


def _workload(windows: Sides, rates: Sides, *printed: float) -> Workload:
    return Workload(windows, rates, dict(zip(SHOWN_PAIRS, printed, strict=True)))


PAPER_TABLE = (
    _workload((9500, 500), (2, 998), 7.06, 9.56, 10.89, 5.74, 5.99, 2845.87, 4.67, 2849.69),
    _workload((7000, 3000), (800, 200), 7.06, 11.85, 6.46, 12.46, 722.39, 424.87, 727.78, 424.27),
    _workload((4000, 6000), (550, 450), 7.06, 11.60, 8.93, 9.73, 993.42, 543.84, 996.09, 545.71),
)
