"""Measurements on which every claim holds, and for each claim of each experiment a change that breaks it.

Where a clock decides, or a run takes long, the measurements are made up.
"""

from collections.abc import Callable
from typing import Any

from papers.experiments import EXPERIMENTS
from papers.kang.bucket_sizes import SIZES
from papers.kang.measured_cost import measured_crossovers
from papers.pwjoin.throughput import NONE
from papers.wjoin.rates import CHANGING, STEADY
from papers.wjoin.windows import HARDLY, NARROW, NARROW_WRITTEN

Result = dict[str, Any]


# Measurements


def run(name: str, scale: float) -> Callable[[], Result]:
    """Measured on tables, without the claims."""
    return lambda: {key: value for key, value in EXPERIMENTS[name].run(scale=scale).items() if key != "claims"}


def as_predicted(name: str) -> Callable[[], Result]:
    """A contest of strategies that all give what the formula says."""

    def made_up() -> Result:
        result = run(name, 0.02)()
        for each in result["runs"].values():
            each["measured"] = each["predicted"]
        return result

    return made_up


def raced(seconds: float) -> Result:
    """A join that took so long, three times."""
    return {"repetitions_s": [seconds] * 3, "median_s": seconds, "results": 100, "timed_share": 1.0}


def throughput() -> Result:
    runs = {window: {"PWJoin": raced(1.1), "WJoin": raced(1.0)} for window in ("5", "15")}
    return {"engine": "tables", "stream_s": 1000.0, "runs": runs}


def irrelevant() -> Result:
    return {"punctuations": 1000, "runs": {"PWJoin": raced(1.5), NONE: raced(1.0), "WJoin": raced(1.0)}}


def splits() -> Result:
    costs = ((0.1, 5.0, 40.0), (0.5, 20.0, 20.0), (0.9, 40.0, 5.0))
    points: list[Result] = []
    for share, here, there in costs:
        measured = {"HN": here, "HH": 10.0, "NH": there}
        points.append({"share": share, "measured": measured, "estimated": dict(measured)})
    crossovers = {what: measured_crossovers(points) for what in ("estimated", "measured")}
    return {"points": points, "crossovers": crossovers}


def workloads() -> Result:
    costs = {"HN": 1.0, "HH": 2.0, "TT": 3.0}
    return {"workloads": {name: {"measured": dict(costs), "estimated": dict(costs)} for name in "abc"}}


def bucket_sizes() -> Result:
    points = [{"size": n, "tuples_per_bucket": n / 2, "bytes": 32 + 100 / n, "search_ns": 20 + 1.5 * n} for n in SIZES]
    memory = {"N": 32.0, "H": 42.0, "B": 66.0, "T": 64.0}
    return {"points": points, "bytes": memory, "winners_of_two": ["HN", "HH", "NH"]}


def served(**service_us: float) -> Result:
    """A case of the W-join report: algorithms that took so long for a tuple, all the time."""
    runs = {name: {"service_us": [us] * 4, "stored": 100.0, "results": 10} for name, us in service_us.items()}
    return {"tuples": [1000, 2000, 3000, 4000], "in_reach": 100.0, "runs": runs}


def stores_served(numbers: str, **service_us: float) -> Callable[[], Result]:
    """So many stores, or streams; indexes take a tenth longer with each, scans twice as long."""
    slower = {"hw": 1.1, "xjoin": 1.2}
    return lambda: {
        "cases": {
            n: served(**{name: us * slower.get(name, 2.0) ** int(n) for name, us in service_us.items()})
            for n in numbers
        }
    }


def slowing_down() -> Result:
    return {"cases": {STEADY: served(nlw=6.0, mw=6.0, hw=2.0), CHANGING: served(nlw=0.5, mw=0.5, hw=0.5)}}


def one_wider() -> Result:
    written = served(gca=15.0, lca=1.5)
    return {"cases": {HARDLY: served(gca=20.0, lca=16.0), NARROW_WRITTEN: written, NARROW: served(gca=1.5, lca=1.0)}}


def paths() -> Result:
    return {"cases": {"little": served(nlw=8.0, lca=40.0, mw=4.0), "much": served(nlw=0.8, lca=1.5, mw=0.6)}}


def sampled(
    state: float, growth: float = 1.0, results: float = 800.0, cpu_s: float = 1.0, punctuations: int = 80
) -> Result:
    """A run of a staged join with so many tuples in its states half-way, B's the smaller one."""
    states = [state * growth ** ((i - 2.5) / 4) for i in range(8)]
    series = {
        "seconds": [float(i + 1) for i in range(8)],
        "left": [0.6 * each for each in states],
        "right": [0.4 * each for each in states],
        "state": states,
        "results": [results * (i + 1) / 8 for i in range(8)],
        "punctuations_out": [punctuations * (i + 0.5) / 8 for i in range(8)],
    }
    return {"series": series, "results": 1000, "punctuations_out": punctuations, "cpu_s": cpu_s}


def against_xjoin() -> Result:
    return {"tuples": 1000, "runs": {"PJoin": sampled(240), "XJoin": sampled(1000, growth=1.9, results=400.0)}}


def purged() -> Result:
    runs = {str(n): sampled(60.0 + 5 * n, cpu_s=1.0 if n == 1 else 0.5) for n in (1, 100, 400, 800)}
    return {"tuples": 1000, "runs": runs}


def spaced() -> Result:
    return {"tuples": 1000, "runs": {str(n): sampled(6.0 * n) for n in (10, 20, 30, 40)}}


def asymmetric() -> Result:
    modes = {"eager": 1.0, "lazy": 0.5}
    runs = {mode: {str(n): sampled(3.0 * n, cpu_s=spent) for n in (20, 30, 40)} for mode, spent in modes.items()}
    return {"tuples": 1000, "runs": runs}


def propagated() -> Result:
    alike, unlike = "both every 40", "A every 10, B every 40"
    return {
        "tuples": 1000,
        "values": {alike: 80, unlike: 400},
        "runs": {alike: sampled(200), unlike: sampled(100, punctuations=400)},
    }


MEASURED: dict[str, Callable[[], Result]] = {
    "pj_xjoin": against_xjoin,
    "pj_purge": purged,
    "pj_spacing": spaced,
    "pj_asymmetric": asymmetric,
    "pj_propagation": propagated,
    "fig07_best_case": run("fig07_best_case", 0.05),
    "fig08_memory": run("fig08_memory", 0.2),
    "fig09_throughput": throughput,
    "fig10_irrelevant": irrelevant,
    "fig11_punctuations": run("fig11_punctuations", 0.2),
    "fig12_one_sided": run("fig12_one_sided", 0.5),
    "eq01_state": run("eq01_state", 0.5),
    "planned_state": run("planned_state", 0.5),
    "kn_fig02": run("kn_fig02", 1.0),
    "kn_fig03": splits,
    "kn_fig04": workloads,
    "kn_table3": run("kn_table3", 1.0),
    "kn_bucket_sizes": bucket_sizes,
    "kn_fig05": as_predicted("kn_fig05"),
    "kn_fig06": as_predicted("kn_fig06"),
    "kn_fig07": as_predicted("kn_fig07"),
    "wj_fig07": stores_served("234", ripple=9.0, nlw=3.0, mw=3.0),
    "wj_fig08": stores_served("234", xjoin=0.6, hw=0.5),
    "wj_fig09a": stores_served("23456", nlw=3.0, mw=3.0, hw=0.5),
    "wj_fig09b": stores_served("23456", nlw=3.0, mw=3.0, hw=0.5),
    "wj_fig09c": slowing_down,
    "wj_fig13": one_wider,
    "wj_fig14": paths,
}


# Changes


def put(value: Any, *path: Any) -> Callable[[Result], None]:
    """Another value at this place."""

    def change(result: Result) -> None:
        *folders, last = path
        for each in folders:
            result = result[each]
        result[last] = value

    return change


def swap(*path: Any, ours: str, other: str) -> Callable[[Result], None]:
    """Two measurements that were taken for each other."""

    def change(result: Result) -> None:
        for each in path:
            result = result[each]
        result[ours], result[other] = result[other], result[ours]

    return change


def saves(share: float) -> Callable[[Result], None]:
    """A PWJoin that holds so much less than WJoin, whatever the window."""

    def change(result: Result) -> None:
        for runs in result["runs"].values():
            runs["PWJoin"]["state"] = [(1 - share) * held for held in runs["WJoin"]["state"]]

    return change


def fill_five_seconds(result: Result) -> None:
    for series in result["runs"]["5"].values():
        series["state"] = [1.3 * held for held in series["state"]]


def in_steps(alter: Callable[[list[float], list[float]], list[float]]) -> Callable[[Result], None]:
    """Other counts of PWJoin's punctuations, from its own and from PJoin's."""

    def change(result: Result) -> None:
        pwjoin, pjoin = (result["runs"][name] for name in ("PWJoin", "PJoin"))
        pwjoin["punctuations_out"] = alter(pwjoin["punctuations_out"], pjoin["punctuations_out"])

    return change


def predict_twice(result: Result) -> None:
    for each in result["points"]:
        each["estimated"] = {pair: 2 * cost for pair, cost in each["estimated"].items()}


def search_the_same(result: Result) -> None:
    for each in result["points"]:
        each["search_ns"] = 20.0 + each["size"] % 3


def save_evenly(result: Result) -> None:
    for each in result["points"]:
        each["bytes"] = 200.0 - each["size"]


def grow(result: Result) -> None:
    result["spread"]["30"]["measured"].reverse()


def miss(result: Result) -> None:
    result["spread"]["30"]["predicted"] = [2 * each + 100 for each in result["spread"]["30"]["predicted"]]


def overflow(result: Result) -> None:
    measured = result["clustered"]["A"]["measured"]
    measured[:] = [result["window_tuples"] + 1] * len(measured)


def plan(alter: Callable[[Result], dict[str, float]]) -> Callable[[Result], None]:
    """Other plans for the same measured states."""

    def change(result: Result) -> None:
        for each in result["points"]:
            each |= alter(each)

    return change


def contest(best: str, worst: str) -> list[Callable[[Result], None]]:
    """Changes that break the four claims of any contest."""
    return [
        put(1.0, "runs", worst, "predicted"),
        put(1e3, "runs", "equal", "measured"),
        put(1e3, "runs", best, "predicted"),
        swap("runs", ours=best, other=worst),
    ]


def serve(case: str, algorithm: str, *service_us: float) -> Callable[[Result], None]:
    """Other service times of an algorithm in a case, in the first half of the run and in the second."""
    first, second = service_us[0], service_us[-1]
    return put([first, first, second, second], "cases", case, "runs", algorithm, "service_us")


def lose_one(case: str, algorithm: str) -> Callable[[Result], None]:
    """A result that one of them has not found."""
    return put(9, "cases", case, "runs", algorithm, "results")


def keep_in_vain(case: str) -> Callable[[Result], None]:
    """Tuples that nobody can meet any more."""
    return put(120.0, "cases", case, "runs", "nlw", "stored")


# In the order of the claims.
SPOILT: dict[str, list[Callable[[Result], None]]] = {
    "pj_xjoin": [
        put(999, "runs", "XJoin", "results"),
        put(sampled(240, growth=1.9), "runs", "PJoin"),
        put(sampled(1000, growth=1.1, results=400.0), "runs", "XJoin"),
        put([100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 710.0], "runs", "PJoin", "series", "results"),
        put(sampled(1000, growth=1.9), "runs", "XJoin"),
    ],
    "pj_purge": [
        put(999, "runs", "100", "results"),
        swap("runs", ours="1", other="400"),
        put(0.9, "runs", "800", "cpu_s"),
    ],
    "pj_spacing": [swap("runs", ours="10", other="30"), put(sampled(180.0, growth=2.5), "runs", "30")],
    "pj_asymmetric": [
        put(999, "runs", "lazy", "30", "results"),
        swap("runs", "eager", "20", "series", ours="left", other="right"),
        swap("runs", "eager", ours="20", other="40"),
        put(2.0, "runs", "lazy", "40", "cpu_s"),
    ],
    "pj_propagation": [
        put([0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 61.0], "runs", "both every 40", "series", "punctuations_out"),
        put(
            [0.0, 50.0, 50.0, 50.0, 50.0, 200.0, 300.0, 400.0],
            "runs",
            "A every 10, B every 40",
            "series",
            "punctuations_out",
        ),
        put(70, "runs", "both every 40", "punctuations_out"),
    ],
    "planned_state": [
        plan(lambda each: {"waits": each["bound"]}),
        plan(lambda each: {"counts": 0.5 * each["measured"]}),
        plan(lambda each: {"eq1": each["measured"]}),
        plan(lambda each: {"waits": each["waits"] + 1}),
    ],
    "fig07_best_case": [
        put(1, "cases", "unique", "max_state_right"),
        put(99, "cases", "clusters", "max_state_left"),
        put(2, "cases", "unique", "max_state_left"),
        put(0.5, "cases", "clusters", "max_error_right"),
    ],
    "fig08_memory": [
        saves(0.0),
        saves(0.2),
        fill_five_seconds,
        put(1e6, "runs", "1", "PWJoin", "state", 0),
        put(1, "runs", "1", "PWJoin", "results", -1),
    ],
    "fig09_throughput": [
        put(99, "runs", "5", "WJoin", "results"),
        put(raced(1.5), "runs", "5", "PWJoin"),
        put(raced(1.5), "runs", "15", "PWJoin"),
        put(raced(1.3), "runs", "15", "PWJoin"),
        put(50.0, "stream_s"),
    ],
    "fig10_irrelevant": [
        put(99, "runs", "WJoin", "results"),
        put(raced(2.5), "runs", "PWJoin"),
        put(raced(1.3), "runs", NONE),
    ],
    "fig11_punctuations": [
        in_steps(lambda ours, theirs: [*ours[:-1], theirs[-1] - 1]),
        in_steps(lambda ours, theirs: theirs),
        # As slow as PJoin until just before half-way.
        in_steps(lambda ours, theirs: [*theirs[: len(ours) // 2], *ours[len(ours) // 2 :]]),
    ],
    "fig12_one_sided": [
        put(1, "runs", "PJoin", "punctuations_out", -1),
        in_steps(lambda ours, theirs: [min(each, ours[-1] / 2) for each in ours]),
        in_steps(lambda ours, theirs: [i * i for i, _ in enumerate(ours)]),
    ],
    "eq01_state": [miss, grow, swap("spread", ours="30", other="60"), overflow],
    "kn_fig02": [
        put("HH", "models", "paper", "crossovers", 0, "before"),
        put(0.5, "models", "paper", "crossovers", 1, "share"),
        put([], "models", "machine", "crossovers"),
    ],
    "kn_fig03": [
        put({"HN": 9.0, "HH": 9.0, "NH": 1.0}, "points", 0, "estimated"),
        put(0.9, "crossovers", "measured", 0, "share"),
        predict_twice,
        put({"HN": 5.0, "HH": 10.0, "NH": 20.0}, "points", 1, "measured"),
    ],
    "kn_fig04": [
        put({"HN": 2.5, "HH": 2.0, "TT": 3.0}, "workloads", "c", "measured"),
        put({"HN": 1.0, "HH": 2.0, "TT": 1.5}, "workloads", "b", "estimated"),
        put({"HN": 2.1, "HH": 2.0, "TT": 3.0}, "workloads", "a", "measured"),
    ],
    "kn_table3": [
        put(8.06, "rows", 0, "recomputed", "HH"),
        put(0.1, "rows", 1, "recomputed", "TN"),
        put(1e6, "rows", 2, "recomputed", "TT"),
        put(14.12, "rows", 0, "recomputed", "HH"),
    ],
    "kn_bucket_sizes": [
        save_evenly,
        put(["HN", "NH"], "winners_of_two"),
        search_the_same,
        put(60.0, "bytes", "B"),
    ],
    "kn_fig05": contest("MaxA", "MaxB"),
    "kn_fig06": contest("MaxA", "MaxB"),
    "kn_fig07": contest("MaxA / Max λb", "MaxA / Max λa"),
    "wj_fig07": [
        lose_one("3", "mw"),
        serve("4", "ripple", 1.0),
        serve("2", "ripple", 1.0),
        serve("3", "mw", 2.4),
        keep_in_vain("4"),
        serve("2", "nlw", 8.0, 12.0),
    ],
    "wj_fig08": [
        lose_one("4", "xjoin"),
        serve("3", "xjoin", 0.5),
        serve("4", "xjoin", 0.8),
        serve("2", "hw", 0.4, 0.6),
    ],
    "wj_fig09a": [
        lose_one("6", "hw"),
        serve("5", "mw", 9.6),
        keep_in_vain("2"),
        serve("3", "hw", 30.0),
    ],
    "wj_fig09b": [
        lose_one("2", "nlw"),
        serve("4", "nlw", 0.5),
        serve("4", "mw", 0.5),
        serve("6", "hw", 13.0),
        serve("6", "nlw", 100.0),
    ],
    "wj_fig09c": [
        lose_one(CHANGING, "mw"),
        serve(CHANGING, "mw", 4.0, 0.5),  # in the end, but not at once
        serve(CHANGING, "nlw", 4.0),
        serve(CHANGING, "hw", 2.0),
    ],
    "wj_fig13": [
        lose_one(NARROW, "gca"),
        serve(HARDLY, "lca", 20.5),
        serve(NARROW_WRITTEN, "lca", 8.0),
        serve(NARROW, "lca", 1.6),
        serve(NARROW, "gca", 10.0),
        serve(HARDLY, "gca", 200.0),
    ],
    "wj_fig14": [
        lose_one("much", "lca"),
        serve("little", "lca", 7.0),
        serve("much", "lca", 0.7),
        serve("much", "lca", 4.5),
        serve("much", "mw", 0.9),
    ],
}
