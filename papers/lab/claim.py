"""Claims: a sentence that measurements bear out or do not, beside what the paper reports.

A claim looks at the measurements alone. So a result that was written can be judged again, and a test can alter a
measurement and see the claim fail that rests on it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Result = dict[str, Any]
Verdict = tuple[bool, str]  # whether a claim holds, and the numbers that decide
NOT_REPORTED = "not reported"  # a claim that is ours: the ground of a comparison, or a consequence


@dataclass(frozen=True)
class Claim:
    """What we claim, what the paper reports of it, and how measurements decide."""

    claim: str | Callable[[Result], str]  # some depend on what the engine could see
    report: str
    judge: Callable[[Result], Verdict]

    def of(self, result: Result) -> dict[str, Any]:
        """The claim as plain data, with what was found in this run and whether it holds."""
        holds, found = self.judge(result)
        claim = self.claim if isinstance(self.claim, str) else self.claim(result)
        return {"claim": claim, "report": self.report, "found": found, "holds": bool(holds)}


def listed(values: Iterable[float], form: str = ",.0f") -> str:
    """Numbers in words.

    >>> listed([1234.5, 7]), listed([0.5], ".0%")
    ('1,234, 7', '50%')
    """
    return ", ".join(f"{value:{form}}" for value in values)


def rising(values: Sequence[float], what: str, form: str = ",.0f") -> Verdict:
    """Each value is larger than the one before.

    >>> rising([1, 2, 2], "tuples")
    (False, 'tuples: 1, 2, 2')
    """
    return all(small < large for small, large in pairwise(values)), f"{what}: {listed(values, form)}"


def each_below(ours: Sequence[float], other: Sequence[float]) -> bool:
    """Whether each value of ours is smaller than its counterpart.

    >>> each_below([1, 2], [2, 3]), each_below([1, 3], [2, 3])
    (True, False)
    """
    return all(one < two for one, two in zip(ours, other, strict=True))


def all_same(counts: Sequence[int]) -> bool:
    """Whether all counts are the same, and not zero.

    >>> all_same([3, 3]), all_same([3, 4]), all_same([0, 0])
    (True, False, False)
    """
    return len(set(counts)) == 1 and counts[0] > 0
