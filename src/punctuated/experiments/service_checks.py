"""What is claimed of service times: who is faster, by how much, and that all find the same.

A *case* is one panel of a picture: what `measure_services` gives for one set of streams.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from punctuated.experiments.experiment import Check, check

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


def settled(case: Case, algorithm: str) -> list[float]:
    """Service times in the second half of the run, when windows are full."""
    times: list[float] = case["runs"][algorithm]["service_us"]
    return times[len(times) // 2 :]


def service(case: Case, algorithm: str) -> float:
    """A typical service time in microseconds."""
    return float(median(settled(case, algorithm)))


def times_as_long(case: Case, slower: str, faster: str) -> float:
    """How many times as long the one takes, slice by slice; the median."""
    pairs = zip(settled(case, slower), settled(case, faster), strict=True)
    return float(median(one / two for one, two in pairs))


def growth(case: Case, algorithm: str) -> float:
    """How many times as long a tuple takes in the second half of the run as in the first."""
    times: list[float] = case["runs"][algorithm]["service_us"]
    return service(case, algorithm) / float(median(times[: max(1, len(times) // 2)]))


def same_results(cases: Cases) -> Check:
    """The ground of every comparison."""
    found = {name: {run["results"] for run in case["runs"].values()} for name, case in cases.items()}
    return check(
        "All algorithms give the same number of results",
        all(len(each) == 1 and each != {0} for each in found.values()),
        "; ".join(f"{name}: {', '.join(f'{n:,}' for n in sorted(each))}" for name, each in found.items()),
    )


def is_faster(claim: str, cases: Cases, faster: str, slower: str, least: float = 1.0) -> Check:
    """In every case the one takes more than so many times as long as the other."""
    holds = all(times_as_long(case, slower, faster) > least for case in cases.values())
    return check(claim, holds, in_words(cases, slower, faster))


def are_alike(claim: str, cases: Cases, one: str, other: str, most: float) -> Check:
    """In every case neither takes more than so many times as long as the other."""
    ratios = [times_as_long(case, one, other) for case in cases.values()]
    return check(claim, all(1 / most <= each <= most for each in ratios), in_words(cases, one, other))


def lies_in_window(cases: Cases, algorithm: str, most: float) -> Check:
    """In every case what the algorithm keeps is at most so many times what a later tuple may still meet."""
    kept = {name: case["runs"][algorithm]["stored"] for name, case in cases.items()}
    return check(
        f"What {TITLES[algorithm]} keeps lies in the window: at most {most - 1:.0%} does not",
        all(kept[name] / case["in_reach"] <= most for name, case in cases.items()),
        "; ".join(
            f"{name}: {kept[name]:,.0f} tuples kept, {case['in_reach']:,.0f} in the window"
            for name, case in cases.items()
        ),
    )


def does_not_grow(claim: str, cases: Cases, algorithms: Sequence[str], most: float) -> Check:
    """In every case the second half of the run takes at most so many times as long as the first."""
    grown = {f"{TITLES[each]}, {name}": growth(case, each) for name, case in cases.items() for each in algorithms}
    detail = "; ".join(f"{name}: {times:.2f} times as long" for name, times in grown.items())
    return check(claim, max(grown.values()) <= most, detail)


def in_words(cases: Cases, slower: str, faster: str) -> str:
    """The comparison, case by case."""
    return "; ".join(
        f"{name}: {TITLES[slower]} {service(case, slower):.2f} µs, {TITLES[faster]} {service(case, faster):.2f} µs, "
        f"{times_as_long(case, slower, faster):.2f} times as long"
        for name, case in cases.items()
    )
