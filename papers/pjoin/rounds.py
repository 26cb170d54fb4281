"""The two rounds of PJoin's experiments: against XJoin (PJ-16), and with an eager and a lazy purge (PJ-17).

XJoin gets the same memory, for 400 tuples of both streams. In round 2 a larger state does not slow PJoin down here, as
it does in the paper: a tuple looks at tuples of its own value only.
"""

from pathlib import Path

from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, all_same, listed, rising
from papers.lab.experiment import Run, tables_experiment
from papers.pjoin.runs import growth, punctuated_streams, purge_policy, ratio, run_join, settled

TUPLES = 60_000  # per stream: two minutes

# Round 1

SPACING = 40
MEMORY = 400  # tuples of both streams; PJoin holds 240 on average
FLAT, GROWN, DECAYED, STEADY = 1.5, 1.8, 0.85, 0.8


def measure_joins(run: Run) -> Result:
    """Both joins over the same streams."""
    n = run.tuples(TUPLES)
    tables = punctuated_streams(n, (SPACING, SPACING))
    return {
        "tuples": n,
        "runs": {
            name: run_join(tables, name.lower(), share.progress, memory=MEMORY, policy=purge_policy(1))
            for name, share in run.each(("PJoin", "XJoin"))
        },
    }


JOIN_CLAIMS = (
    Claim(
        "Both give the same number of results by the end",
        NOT_REPORTED,
        lambda m: [run["results"] for run in m["runs"].values()],
        all_same,
        "{:,}",
    ),
    Claim(
        f"PJoin's state is flat: in the last quarter at most {FLAT:g} times that of the second one",
        "PJoin's state stays small",
        lambda m: (settled(m["runs"]["PJoin"], "state"), ratio(m["runs"]["PJoin"], "state")),
        lambda _, times: times <= FLAT,
        "{:,.0f} tuples, {:.2f} times",
    ),
    Claim(
        f"XJoin's state grows with the streams: in the last quarter {GROWN:g} times that of the second one or more",
        "XJoin's state grows with the streams",
        lambda m: (m["runs"]["XJoin"]["series"]["state"][-1], ratio(m["runs"]["XJoin"], "state")),
        lambda _, times: times >= GROWN,
        "{:,.0f} tuples at the end, {:.2f} times",
    ),
    Claim(
        f"PJoin's output rate stays: in the last quarter at least {STEADY:.0%} of the second one's",
        "PJoin's output rate stays",
        lambda m: growth(m["runs"]["PJoin"], "results"),
        lambda times: times >= STEADY,
        "{:.0%}",
    ),
    Claim(
        f"XJoin gives less while the streams run: at most {DECAYED:.0%} of PJoin's results by their end",
        "XJoin's output rate decays",
        lambda m: tuple(m["runs"][name]["series"]["results"][-1] for name in ("XJoin", "PJoin")),
        lambda xjoin, pjoin: xjoin <= DECAYED * pjoin,
        "{:,.0f} of {:,.0f}; the rest comes out of the clean-up",
    ),
)


def draw_joins(result: Result, path: Path) -> None:
    """State and results over time."""
    looks = {"PJoin": plot.look("PJoin"), "XJoin": {"color": plot.GREY, "linestyle": "--"}}
    with plot.picture(path, f"PJoin and XJoin, a punctuation every {SPACING} tuples", panels=2, width=9) as axes:
        for name, run in result["runs"].items():
            plot.curve(axes[0], run["series"], "state", name, 1e3, **looks[name])
            plot.curve(axes[1], run["series"], "results", name, 1e6, **looks[name])
        plot.label(axes[0], "time (s)", "tuples in state (thousands)", "State, memory and disk")
        plot.label(axes[1], "time (s)", "results so far (millions)", "Output while the streams run")
        for each in axes:
            plot.headroom(each)
        plot.legend_below(axes, columns=2)


# Round 2

PURGE_SPACING = 10
THRESHOLDS = (1, 100, 400, 800)
REPEATS = 3
GAIN = 1.2
_AT = f"at {listed(THRESHOLDS, 'd')}"


def measure_thresholds(run: Run) -> Result:
    """The same streams with every threshold; of several runs the fastest counts."""
    n = run.tuples(TUPLES)
    tables = punctuated_streams(n, (PURGE_SPACING, PURGE_SPACING))
    runs = {}
    for threshold, share in run.each(THRESHOLDS):
        policy = purge_policy(threshold)
        tried = [run_join(tables, "pjoin", each.progress, policy=policy) for _, each in share.each(range(REPEATS))]
        runs[str(threshold)] = min(tried, key=lambda each: each["cpu_s"])
    return {"tuples": n, "runs": runs}


def _states(result: Result) -> list[float]:
    return [settled(run, "state") for run in result["runs"].values()]


def _rates(result: Result) -> list[float]:
    """Input tuples per second of CPU, by threshold."""
    return [2 * result["tuples"] / run["cpu_s"] for run in result["runs"].values()]


PURGE_CLAIMS = (
    Claim(
        "Every threshold gives the same number of results",
        NOT_REPORTED,
        lambda m: [run["results"] for run in m["runs"].values()],
        all_same,
        "{:,}",
    ),
    Claim(
        "The larger the threshold, the larger the state",
        "the larger the threshold, the larger the state",
        _states,
        rising,
        f"tuples {_AT}: {{:,.0f}}",
    ),
    Claim(
        f"A lazy purge gains throughput: every threshold above 1 at least {GAIN:g} times that of the eager one",
        "throughput rises with fewer purges, and falls again when the state is too large",
        _rates,
        lambda rates: min(rates[1:]) >= GAIN * rates[0],
        f"tuples per second {_AT}: {{:,.0f}}",
    ),
)


def draw_thresholds(result: Result, path: Path) -> None:
    """State and throughput by threshold."""
    title = f"Eager and lazy purge, a punctuation every {PURGE_SPACING} tuples"
    with plot.picture(path, title, panels=2, width=9) as axes:
        names = ["1 (eager)" if name == "1" else name for name in result["runs"]]
        plot.bars(axes[0], names, {"state": _states(result)})
        plot.bars(axes[1], names, {"rate": [each / 1e3 for each in _rates(result)]})
        axes[0].set(xlabel="purge threshold", ylabel="tuples in state, on average", title="State")
        axes[1].set(xlabel="purge threshold", ylabel="thousand input tuples per second of CPU", title="Throughput")


EXPERIMENTS = (
    tables_experiment(
        "pj_xjoin", "PJoin and XJoin, state and output", "PJoin, round 1", measure_joins, JOIN_CLAIMS, draw_joins
    ),
    tables_experiment(
        "pj_purge", "Eager and lazy purge", "PJoin, round 2", measure_thresholds, PURGE_CLAIMS, draw_thresholds
    ),
)
