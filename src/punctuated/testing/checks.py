"""Conformance checks: what every operator must satisfy. They are given the operator to check, and know none.

An operator is a function from a specification and batches to one `Observed` per batch, the end of both streams last.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from punctuated.model.pattern import Pattern
from punctuated.model.side import LEFT
from punctuated.model.spec import JoinSpec
from punctuated.testing import reference
from punctuated.testing.reference_patterns import matches
from punctuated.testing.reference_state import BatchOutput
from punctuated.testing.strategies import Batch

DOMAIN = tuple(range(-3, 12))  # beyond all keys that the strategies draw


@dataclass
class Observed:
    """What one batch brought, as multisets that compare."""

    results: Counter[Any] = field(default_factory=Counter)
    unmatched: Counter[Any] = field(default_factory=Counter)
    punctuations: Counter[Any] = field(default_factory=Counter)
    rejected: Counter[Any] = field(default_factory=Counter)
    stored: tuple[int, int] = (0, 0)
    forgotten: int = 0


Operator = Callable[[JoinSpec, Sequence[Batch]], list[Observed]]


def expected(
    spec: JoinSpec, batches: Sequence[Batch], where: reference.Where | None = None, domain: Sequence[Any] = DOMAIN
) -> list[Observed]:
    """What the oracle says; `domain` are the keys by which ranges are compared."""
    return [_observe(output, domain) for output in reference.join(spec, batches, where)]


def _observe(output: BatchOutput, domain: Sequence[Any]) -> Observed:
    said = ((each.key, extent(each.patterns, domain), each.ts, each.reason) for each in output.punctuations)
    return Observed(
        results=Counter((left and left.values, right and right.values) for left, right in output.results),
        unmatched=Counter((each.side == LEFT, each.row.values, each.ts) for each in output.unmatched),
        punctuations=Counter(said),
        rejected=Counter((each.side == LEFT, each.row.values, each.reason) for each in output.rejected),
        stored=output.stored,
        forgotten=output.forgotten,
    )


def extent(patterns: tuple[Pattern, ...] | None, domain: Sequence[Any] = DOMAIN) -> tuple[Any, ...] | None:
    """Which keys of a domain a range speaks of, whatever the form of its bounds."""
    if patterns is None:
        return None
    return tuple(tuple(value for value in domain if matches(pattern, value)) for pattern in patterns)


def check_equals_oracle(
    operator: Operator,
    spec: JoinSpec,
    batches: Sequence[Batch],
    where: reference.Where | None = None,
    domain: Sequence[Any] = DOMAIN,
) -> None:
    """Batch by batch: results, unmatched rows, output punctuations, rejected tuples, and what is kept."""
    oracle = expected(spec, batches, where, domain)
    for number, (seen, wanted) in enumerate(zip(operator(spec, batches), oracle, strict=True)):
        for name in ("results", "rejected", "unmatched", "punctuations", "stored", "forgotten"):
            mine, theirs = getattr(seen, name), getattr(wanted, name)
            assert mine == theirs, f"batch {number}, {name}: got {mine}, the oracle has {theirs}"
