"""The shares of the input at which the cheapest pair of structures changes (KN-21, KN-22).

The cost of a pair is linear in the share of lambda_a, so the cheapest pairs are the lower envelope of straight lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack

from punctuated.errors import CostError
from punctuated.plan.cost.model import CostModel, ModelOptions, full_load

SHOWN_PAIRS = ("HH", "TT", "HT", "TH", "HN", "NH", "TN", "NT")  # those of figure 2 and Table 3, in its order


@dataclass(frozen=True)
class Crossover:
    """The cheapest pair is `before` up to this share of lambda_a in all input, and `after` from there on."""

    share: float
    before: str
    after: str

    @property
    def ratio(self) -> float:
        """The share as the ratio `lambda_a / lambda_b`, the form of Eq. (8) to (11)."""
        return self.share / (1 - self.share)


class _CostLine(NamedTuple):
    start: float  # cost if all input is of stream B
    slope: float


def crossovers(
    windows: Sequence[float] = (5000, 5000),
    *,
    pairs: Sequence[str] = SHOWN_PAIRS,
    matches: float | Sequence[float] = 0,
    **options: Unpack[ModelOptions],
) -> tuple[Crossover, ...]:
    """The shares of lambda_a at which another pair becomes the cheapest, in ascending order.

    Args:
        windows: Tuples in the windows of both streams.
        pairs: The pairs that compete: those that the paper shows, or `ALL_PAIRS`.
        matches: Expected matches of a search, in window A and in window B; see `probe_cost`.
        options: `weights`, `bucket_size` and `node_size`, see `CostModel`.

    Example:
        >>> [(each.before, f"{each.share:.1%}", each.after) for each in crossovers((5000, 5000))[:2]]
        [('TN', '0.1%', 'TH'), ('TH', '21.6%', 'HH')]
    """
    if not pairs:
        raise CostError("no pairs to compare: give some, such as SHOWN_PAIRS or ALL_PAIRS")
    model = CostModel(**options)
    all_right, all_left = (full_load(windows, rates, matches) for rates in ((0.0, 1.0), (1.0, 0.0)))
    starts = {pair: model.join(pair, all_right) for pair in pairs}
    return tuple(
        _envelope({pair: _CostLine(start, model.join(pair, all_left) - start) for pair, start in starts.items()})
    )


def _envelope(lines: Mapping[str, _CostLine]) -> list[Crossover]:
    """The changes along the lowest line from 0 to 1; each next line is flatter, so this ends."""
    found: list[Crossover] = []
    winner = min(lines, key=lambda pair: (lines[pair], pair))
    while True:
        start, slope = lines[winner]
        following = [
            ((line.start - start) / (slope - line.slope), line.slope, pair)
            for pair, line in lines.items()
            if line.slope < slope
        ]
        share, _, after = min(following, default=(1.0, 0.0, winner))
        if share >= 1:
            return found
        found.append(Crossover(share, winner, after))
        winner = after
