"""Claims: rows of a table of what a paper reports, what we claim, and how measurements decide.

A claim looks at the measurements alone. So a result that was written can be judged again, and a test can alter a
measurement and see the claim fail that rests on it. In the rows, `m` stands for the measurements.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Result = dict[str, Any]
NOT_REPORTED = "not reported"  # a claim that is ours: the ground of a comparison, or a consequence


@dataclass(frozen=True)
class Claim:
    """What we claim, what the paper reports, and how measurements decide.

    Args:
        claim: What we claim, as a text or by what the engine could see.
        report: What the paper reports.
        numbers: From measurements the number that decides, or a tuple of them; a list counts as one.
        holds: Whether the claim holds, from these numbers.
        found: The numbers in words, as a format string or a function of them.

    Example:
        >>> claim = Claim("It shrinks", "it shrinks", lambda m: m["sizes"], falling, "tuples: {:.1f}")
        >>> claim.of({"sizes": [3, 2, 1]})
        {'claim': 'It shrinks', 'report': 'it shrinks', 'found': 'tuples: 3.0, 2.0, 1.0', 'holds': True}
    """

    claim: str | Callable[[Result], str]
    report: str
    numbers: Callable[[Result], Any]
    holds: Callable[..., bool]
    found: str | Callable[..., str]

    def of(self, result: Result) -> dict[str, Any]:
        """The claim as plain data, with what was found in this run and whether it holds."""
        taken = self.numbers(result)
        numbers = taken if isinstance(taken, tuple) else (taken,)
        found = self.found.format(*map(_shown, numbers)) if isinstance(self.found, str) else self.found(*numbers)
        claim = self.claim if isinstance(self.claim, str) else self.claim(result)
        return {"claim": claim, "report": self.report, "found": found, "holds": bool(self.holds(*numbers))}


class _Listed(list[Any]):
    """A list whose format is that of each of its numbers."""

    def __format__(self, form: str) -> str:
        return listed(self, form)


def _shown(number: Any) -> Any:
    return _Listed(number) if isinstance(number, list) else number


def listed(values: Iterable[float], form: str) -> str:
    """Numbers in words.

    >>> listed([1234.5, 7], ",.0f")
    '1,234, 7'
    """
    return ", ".join(f"{value:{form}}" for value in values)


# What a claim may ask of a list


def rising(values: Sequence[float]) -> bool:
    """Whether each value is larger than the one before."""
    return all(one < two for one, two in pairwise(values))


def falling(values: Sequence[float]) -> bool:
    """Whether each value is smaller than the one before."""
    return all(one > two for one, two in pairwise(values))


def each_below(ours: Sequence[float], other: Sequence[float]) -> bool:
    """Whether each value of ours is smaller than its counterpart."""
    return all(one < two for one, two in zip(ours, other, strict=True))


def all_same(counts: Sequence[int]) -> bool:
    """Whether all counts are the same, and not zero.

    >>> all_same([3, 3]), all_same([3, 4]), all_same([0, 0])
    (True, False, False)
    """
    return len(set(counts)) == 1 and counts[0] > 0
