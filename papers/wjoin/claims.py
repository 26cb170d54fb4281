"""Claims on service times: who is faster, by how much, and that all find the same.

A *case* is one panel of a picture: what `measure_services` returns for one set of streams. A claim looks at all cases
of an experiment, or at those that it names.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from papers.lab.claim import NOT_REPORTED, Claim, Result, all_same, listed

Case = Mapping[str, Any]
Cases = Mapping[str, Case]
TITLES = {
    "nlw": "NLW-join",
    "mw": "MW-join",
    "hw": "HW-join",
    "gca": "GCA",
    "lca": "LCA",
    "ripple": "ripple join",
    "xjoin": "XJoin",
}


# Figures of a case


def settled(case: Case, algorithm: str) -> list[float]:
    """Service times in the second half of the run, when windows are full."""
    times: list[float] = case["runs"][algorithm]["service_us"]
    return times[len(times) // 2 :]


def service(case: Case, algorithm: str) -> float:
    """A typical service time in microseconds."""
    return float(median(settled(case, algorithm)))


def times_as_long(case: Case, slower: str, faster: str) -> float:
    """How many times as long `slower` takes as `faster`, slice by slice; the median."""
    pairs = zip(settled(case, slower), settled(case, faster), strict=True)
    return float(median(one / two for one, two in pairs))


def growth(case: Case, algorithm: str) -> float:
    """How many times as long a tuple takes in the second half of the run as in the first."""
    times: list[float] = case["runs"][algorithm]["service_us"]
    return service(case, algorithm) / float(median(times[: max(1, len(times) // 2)]))


def in_words(cases: Cases, slower: str, faster: str) -> str:
    """Both service times and their ratio, case by case."""
    return "; ".join(
        f"{name}: {TITLES[slower]} {service(case, slower):.2f} µs, {TITLES[faster]} {service(case, faster):.2f} µs, "
        f"{times_as_long(case, slower, faster):.2f} times as long"
        for name, case in cases.items()
    )


def cases_of(result: Result, names: Sequence[str] = ()) -> Cases:
    """The cases of these names, or all of them."""
    cases: Cases = result["cases"]
    return {name: cases[name] for name in names or cases}


# Claims


def _counts(cases: Cases) -> dict[str, list[int]]:
    """The results of all algorithms in each case."""
    return {name: [run["results"] for run in case["runs"].values()] for name, case in cases.items()}


SAME_RESULTS = Claim(
    "All algorithms give the same number of results",
    NOT_REPORTED,
    lambda m: _counts(m["cases"]),
    lambda counts: all(map(all_same, counts.values())),
    lambda counts: "; ".join(f"{name}: {listed(sorted(set(each)), ',')}" for name, each in counts.items()),
)


def is_faster(
    claim: str, report: str, faster: str, slower: str, cases: Sequence[str] = (), least: float = 1.0
) -> Claim:
    """In every case `slower` takes more than so many times as long as `faster`."""
    return Claim(
        claim,
        report,
        lambda m: cases_of(m, cases),
        lambda ours: all(times_as_long(case, slower, faster) > least for case in ours.values()),
        lambda ours: in_words(ours, slower, faster),
    )


def is_more_ahead(claim: str, report: str, faster: str, slower: str, much: str, little: str) -> Claim:
    """In the case `much` the ratio of both times is larger than in the case `little`."""
    return Claim(
        claim,
        report,
        lambda m: cases_of(m, (little, much)),
        lambda ours: times_as_long(ours[much], slower, faster) > times_as_long(ours[little], slower, faster),
        lambda ours: in_words(ours, slower, faster),
    )


def are_alike(claim: str, report: str, one: str, other: str, most: float) -> Claim:
    """In every case neither takes more than so many times as long as the other."""
    return Claim(
        claim,
        report,
        cases_of,
        lambda cases: all(1 / most <= times_as_long(case, one, other) <= most for case in cases.values()),
        lambda cases: in_words(cases, one, other),
    )


def lies_in_window(algorithm: str, most: float) -> Claim:
    """In every case the algorithm keeps at most so many times what a later tuple may still match."""

    def found(cases: Cases) -> str:
        kept = {name: (case["runs"][algorithm]["stored"], case["in_reach"]) for name, case in cases.items()}
        return "; ".join(
            f"{name}: {one:,.0f} tuples kept, {two:,.0f} in the window" for name, (one, two) in kept.items()
        )

    return Claim(
        f"What {TITLES[algorithm]} keeps lies in the window: at most {most - 1:.0%} does not",
        NOT_REPORTED,
        cases_of,
        lambda cases: all(case["runs"][algorithm]["stored"] <= most * case["in_reach"] for case in cases.values()),
        found,
    )


def does_not_grow(algorithms: Sequence[str], most: float) -> Claim:
    """In every case the second half of the run takes at most so many times as long as the first."""
    return Claim(
        f"Times of {' and '.join(TITLES[each] for each in algorithms)} do not build up: by a factor of {most:g} at "
        "most from the first half to the second",
        "times of the report's own algorithms do not build up",
        lambda m: {
            f"{TITLES[each]}, {name}": growth(case, each) for name, case in m["cases"].items() for each in algorithms
        },
        lambda grown: max(grown.values()) <= most,
        lambda grown: "; ".join(f"{name}: {times:.2f} times as long" for name, times in grown.items()),
    )
