"""The size of hash buckets: memory against the cost of a search (KN-24, KN-25).

The paper swept sizes from 2 to 100: memory utilisation improves steeply up to 10 and flattens then, and a bucket with
one tuple more costs one comparison more. It found HJ to take about 5 % and BJ about 10 % more memory than TJ. And with
two tuples per bucket only two crossovers are left: HN, HH, NH.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from punctuated.cli import plot
from punctuated.experiments.calibration.timed_join import TimedJoin
from punctuated.experiments.experiment import Check, Result, check, listed, tables_experiment
from punctuated.experiments.progress import Progress, report
from punctuated.plan import cost

WINDOW = 5000
SIZES = (2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 100)
CHOSEN = 10
SEARCHES, REPEATS = 20_000, 5
LEAST_SAVED, LEAST_FIT = 0.6, 0.9


def measure(scale: float, progress: Progress | None) -> Result:
    """Measure windows with buckets of each size, and the other structures for comparison."""
    n = max(200, round(SEARCHES * scale))
    points = []
    for i, size in enumerate(SIZES):
        join = TimedJoin("NH", WINDOW, bucket_size=size)
        points.append(
            {
                "size": size,
                "tuples_per_bucket": join.tuples_per_bucket,
                "bytes": join.bytes_per_tuple,
                "search_ns": (_cheapest(join.search, n) - _cheapest(join.idle, n)) / n * 1e9,
            }
        )
        report(progress, (i + 1) / (len(SIZES) + 1))
    memory = {structure: TimedJoin(f"N{structure}", WINDOW).bytes_per_tuple for structure in cost.STRUCTURES}
    report(progress, 1.0)
    two = cost.crossovers((WINDOW, WINDOW), bucket_size=2)
    winners = [two[0].before, *(each.after for each in two)]
    return {"window": WINDOW, "points": points, "bytes": memory, "winners_of_two": winners}


def _cheapest(work: Callable[[int], float], n: int) -> float:
    return min(work(n) for _ in range(REPEATS))


def checks(result: Result) -> list[Check]:
    """What larger buckets save, and what they cost."""
    points, memory, winners = (result[name] for name in ("points", "bytes", "winners_of_two"))
    taken = {each["size"]: each["bytes"] - memory["N"] for each in points}
    most, least = taken[SIZES[0]], taken[SIZES[-1]]
    saved = (most - taken[CHOSEN]) / (most - least)
    buckets, search = (np.array([each[name] for each in points]) for name in ("tuples_per_bucket", "search_ns"))
    per_tuple, fixed = np.polyfit(buckets, search, 1)
    fit = float(np.corrcoef(buckets, search)[0, 1] ** 2)
    return [
        check(
            f"Most of the memory that larger buckets save is saved at {CHOSEN} tuples per bucket",
            saved >= LEAST_SAVED,
            f"{saved:.0%} of what {SIZES[-1]} save over {SIZES[0]}; beside keys {listed(taken.values(), '.1f')} bytes",
        ),
        check(
            "By the paper's weights, with two tuples per bucket only HN, HH and NH win",
            winners == ["HN", "HH", "NH"],
            ", ".join(winners),
        ),
        check(
            f"A search costs the more the fuller its bucket is, in proportion (r² at least {LEAST_FIT:g})",
            per_tuple > 0 and fit >= LEAST_FIT,
            f"{fixed:.1f} ns and {per_tuple:.1f} ns per tuple in the bucket, r² {fit:.2f}",
        ),
        check(
            "A B+tree takes more memory than a T-tree",
            memory["B"] > memory["T"],
            f"{memory['B'] / memory['T'] - 1:+.0%}; hash buckets {memory['H'] / memory['T'] - 1:+.0%} "
            "(the paper: +10 % and +5 %)",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Memory left, time right."""
    title = f"Hash buckets of 2 to 100 tuples, window of {result['window']:,} tuples"
    points, memory = result["points"], result["bytes"]
    sizes = [each["size"] for each in points]
    buckets, search = ([each[name] for each in points] for name in ("tuples_per_bucket", "search_ns"))
    with plot.picture(path, title, panels=2) as axes:
        axes[0].plot(sizes, [each["bytes"] for each in points], "o-", color=plot.BLUE, label="hash buckets")
        for structure, colour in (("B", plot.PURPLE), ("T", plot.VERMILLION), ("N", plot.GREY)):
            name = cost.STRUCTURES[structure]
            axes[0].axhline(memory[structure], color=colour, linestyle="--", linewidth=1.5, label=name)
        axes[0].set_xscale("log")
        axes[0].set_xticks([2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"])
        axes[0].set_xticks([], minor=True)
        axes[0].set(xlabel="bucket size asked for", ylabel="bytes per tuple, keys included")
        axes[0].set_ylim(0, 1.35 * max(memory.values()))
        axes[0].legend(loc="upper center", ncols=2, frameon=False, fontsize=10)
        per_tuple, fixed = np.polyfit(buckets, search, 1)
        line = np.array([0, 1.05 * max(buckets)])
        name = f"{fixed:.0f} ns and {per_tuple:.1f} ns per tuple"
        axes[1].plot(line, fixed + per_tuple * line, color=plot.GREY, linewidth=1.5, label=name)
        axes[1].plot(buckets, search, "o", color=plot.BLUE, label="measured")
        plot.label(axes[1], "tuples in a bucket, on average", "ns per search")
        plot.headroom(axes[1])
        plot.legend(axes[1], "upper left")


EXPERIMENT = tables_experiment(
    "kn_bucket_sizes", "Hash buckets of 2 to 100 tuples", "Kang et al., section 5.1", measure, checks, draw
)
