"""Claims on service times: who is faster, by how much, and that all find the same.

A *case* is one panel of a picture: what `measure_services` returns for one set of streams. A claim looks at all cases
of an experiment, or at those that it names.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from papers.lab.claim import NOT_REPORTED, Claim, Result, Verdict, all_same

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


def _same_results(result: Result) -> Verdict:
    found = {name: [run["results"] for run in case["runs"].values()] for name, case in result["cases"].items()}
    in_each = (f"{name}: {', '.join(f'{n:,}' for n in sorted(set(counts)))}" for name, counts in found.items())
    return all(map(all_same, found.values())), "; ".join(in_each)


SAME_RESULTS = Claim("All algorithms give the same number of results", NOT_REPORTED, _same_results)


def is_faster(
    claim: str, report: str, faster: str, slower: str, cases: Sequence[str] = (), least: float = 1.0
) -> Claim:
    """In every case `slower` takes more than so many times as long as `faster`."""

    def judge(result: Result) -> Verdict:
        ours = cases_of(result, cases)
        return all(times_as_long(case, slower, faster) > least for case in ours.values()), in_words(
            ours, slower, faster
        )

    return Claim(claim, report, judge)


def is_more_ahead(claim: str, report: str, faster: str, slower: str, much: str, little: str) -> Claim:
    """In the case `much` the ratio of both times is larger than in the case `little`."""

    def judge(result: Result) -> Verdict:
        cases = cases_of(result, (little, much))
        ahead = {name: times_as_long(case, slower, faster) for name, case in cases.items()}
        return ahead[much] > ahead[little], in_words(cases, slower, faster)

    return Claim(claim, report, judge)


def are_alike(claim: str, report: str, one: str, other: str, most: float) -> Claim:
    """In every case neither takes more than so many times as long as the other."""

    def judge(result: Result) -> Verdict:
        cases = cases_of(result)
        ratios = [times_as_long(case, one, other) for case in cases.values()]
        return all(1 / most <= each <= most for each in ratios), in_words(cases, one, other)

    return Claim(claim, report, judge)


def lies_in_window(algorithm: str, most: float) -> Claim:
    """In every case the algorithm keeps at most so many times what a later tuple may still match."""

    def judge(result: Result) -> Verdict:
        kept = {name: (case["runs"][algorithm]["stored"], case["in_reach"]) for name, case in result["cases"].items()}
        return (
            all(stored / in_reach <= most for stored, in_reach in kept.values()),
            "; ".join(
                f"{name}: {stored:,.0f} tuples kept, {in_reach:,.0f} in the window"
                for name, (stored, in_reach) in kept.items()
            ),
        )

    claim = f"What {TITLES[algorithm]} keeps lies in the window: at most {most - 1:.0%} does not"
    return Claim(claim, NOT_REPORTED, judge)


def does_not_grow(algorithms: Sequence[str], most: float) -> Claim:
    """In every case the second half of the run takes at most so many times as long as the first."""

    def judge(result: Result) -> Verdict:
        cases = cases_of(result)
        grown = {f"{TITLES[each]}, {name}": growth(case, each) for name, case in cases.items() for each in algorithms}
        found = "; ".join(f"{name}: {times:.2f} times as long" for name, times in grown.items())
        return max(grown.values()) <= most, found

    return Claim(
        f"Times of {' and '.join(TITLES[each] for each in algorithms)} do not build up: by a factor of {most:g} at "
        "most from the first half to the second",
        "times of the report's own algorithms do not build up",
        judge,
    )
