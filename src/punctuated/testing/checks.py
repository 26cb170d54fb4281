"""Conformance checks: what every operator must satisfy. The operator to check is an argument.

An operator is a function that takes a specification and batches, and returns one `Observed` per batch; the last one is
the end of both streams.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from punctuated.model.pattern import Pattern
from punctuated.model.spec import LEFT, JoinSpec
from punctuated.testing import reference
from punctuated.testing.reference_patterns import matches
from punctuated.testing.reference_state import BatchOutput
from punctuated.testing.strategies import Batch

DOMAIN = tuple(range(-3, 12))  # beyond all keys that the strategies draw


@dataclass
class Observed:
    """What an operator puts out for one batch, as multisets that can be compared."""

    results: Counter[Any] = field(default_factory=Counter)
    unmatched: Counter[Any] = field(default_factory=Counter)
    punctuations: Counter[Any] = field(default_factory=Counter)
    rejected: Counter[Any] = field(default_factory=Counter)
    stored: tuple[int, ...] = (0, 0)
    forgotten: int = 0
    # Totals since the start
    purged: int = 0
    invalidated: int = 0
    evicted: int = 0
    discarded: int = 0
    dropped: int = 0


COUNTED = ("purged", "invalidated", "evicted", "discarded", "dropped")
Operator = Callable[[JoinSpec, Sequence[Batch]], list[Observed]]


def expected(
    spec: JoinSpec, batches: Sequence[Batch], where: reference.Where | None = None, domain: Sequence[Any] = DOMAIN
) -> list[Observed]:
    """What the oracle puts out for each batch; ranges are compared by the keys in `domain`."""
    return [_observe(output, domain) for output in reference.join(spec, batches, where)]


def _observe(output: BatchOutput, domain: Sequence[Any]) -> Observed:
    punctuations = ((each.key, extent(each.patterns, domain), each.ts, each.reason) for each in output.punctuations)
    return Observed(
        results=Counter(
            (left and left.values, right and right.values, ts)
            for (left, right), ts in zip(output.results, output.result_ts, strict=True)
        ),
        unmatched=Counter((each.side == LEFT, each.row.values, each.ts) for each in output.unmatched),
        punctuations=Counter(punctuations),
        rejected=Counter((each.side == LEFT, each.row.values, each.reason) for each in output.rejected),
        stored=output.stored,
        forgotten=output.forgotten,
        **{name: getattr(output, name) for name in COUNTED},
    )


def extent(patterns: tuple[Pattern, ...] | None, domain: Sequence[Any] = DOMAIN) -> tuple[Any, ...] | None:
    """The keys of a domain that each pattern of a range matches, so that the form of its bounds does not matter."""
    if patterns is None:
        return None
    return tuple(tuple(value for value in domain if matches(pattern, value)) for pattern in patterns)


def check_equals_oracle(
    operator: Operator,
    spec: JoinSpec,
    batches: Sequence[Batch],
    where: reference.Where | None = None,
    but: Sequence[str] = (),
    domain: Sequence[Any] = DOMAIN,
) -> None:
    """Check that an operator equals the oracle in each batch: output with times, rejected rows, state and counters.

    `but` names what is not compared; ranges are compared by the keys in `domain`.
    """
    names = ("results", "rejected", "unmatched", "punctuations", "stored", "forgotten", *COUNTED)
    oracle = expected(spec, batches, where, domain)
    _compare([name for name in names if name not in but], operator(spec, batches), oracle)


def check_equals_oracle_whenever_it_purges(operator: Operator, spec: JoinSpec, batches: Sequence[Batch]) -> None:
    """Check that an operator equals the oracle in all that does not depend on when a lazy purge happens.

    This holds for streams that reject broken promises. Unmatched rows may come in another batch than by the oracle.
    """
    seen, wanted = operator(spec, batches), expected(spec, batches)
    _compare(("results", "rejected", "punctuations"), seen, wanted)
    ours, other = (Counter(row[:2] for each in run for row in each.unmatched.elements()) for run in (seen, wanted))
    assert ours == other, f"unmatched: got {ours}, the oracle has {other}"


def _compare(names: Sequence[str], seen: Sequence[Observed], wanted: Sequence[Observed]) -> None:
    for number, (one, two) in enumerate(zip(seen, wanted, strict=True)):
        for name in names:
            ours, other = getattr(one, name), getattr(two, name)
            assert ours == other, f"batch {number}, {name}: got {ours}, the oracle has {other}"
