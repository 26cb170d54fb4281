"""The size of hash buckets, section 5.1 of Kang, Naughton and Viglas: memory against searches (KN-24, KN-25)."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from papers.lab import plot
from papers.lab.claim import Claim, Result
from papers.lab.experiment import Run, tables_experiment
from punctuated.plan import cost
from punctuated.runtime.calibration.timed_join import TimedJoin

WINDOW = 5000
SIZES = (2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 100)
CHOSEN = 10
SEARCHES, REPEATS = 20_000, 5
LEAST_SAVED, LEAST_FIT = 0.6, 0.9


def measure(run: Run) -> Result:
    """Measure windows with buckets of each size, and the other structures for comparison."""
    n = max(200, round(SEARCHES * run.scale))
    points = []
    for size, _ in run.each(SIZES):
        join = TimedJoin("NH", WINDOW, bucket_size=size)
        points.append(
            {
                "size": size,
                "tuples_per_bucket": join.tuples_per_bucket,
                "bytes": join.bytes_per_tuple,
                "search_ns": (_cheapest(join.search, n) - _cheapest(join.idle, n)) / n * 1e9,
            }
        )
    memory = {structure: TimedJoin(f"N{structure}", WINDOW).bytes_per_tuple for structure in cost.STRUCTURES}
    two = cost.crossovers((WINDOW, WINDOW), bucket_size=2)
    winners = [two[0].before, *(each.after for each in two)]
    return {"window": WINDOW, "points": points, "bytes": memory, "winners_of_two": winners}


def _cheapest(work: Callable[[int], float], n: int) -> float:
    return min(work(n) for _ in range(REPEATS))


def _saved_early(result: Result) -> tuple[float, list[float]]:
    """The share of what the largest buckets save that is saved at the chosen size, and all bytes beside keys."""
    taken = {each["size"]: each["bytes"] - result["bytes"]["N"] for each in result["points"]}
    most, least = taken[SIZES[0]], taken[SIZES[-1]]
    return (most - taken[CHOSEN]) / (most - least), list(taken.values())


def _line(result: Result) -> tuple[float, float, float]:
    """The line of searches over tuples per bucket: nanoseconds at none, more of them per tuple, and r²."""
    points = result["points"]
    buckets, search = (np.array([each[name] for each in points]) for name in ("tuples_per_bucket", "search_ns"))
    per_tuple, fixed = np.polyfit(buckets, search, 1)
    return fixed, per_tuple, float(np.corrcoef(buckets, search)[0, 1] ** 2)


CLAIMS = (
    Claim(
        f"Most of the memory that larger buckets save is saved at {CHOSEN} tuples per bucket",
        "memory utilisation improves steeply up to 10 tuples per bucket and flattens then",
        _saved_early,
        lambda saved, _: saved >= LEAST_SAVED,
        f"{{:.0%}} of what {SIZES[-1]} save over {SIZES[0]}; beside keys {{:.1f}} bytes",
    ),
    Claim(
        "By the paper's weights, with two tuples per bucket only HN, HH and NH win",
        "with two tuples per bucket two crossovers are left: HN, HH, NH",
        lambda m: m["winners_of_two"],
        lambda winners: winners == ["HN", "HH", "NH"],
        "{}",
    ),
    Claim(
        f"A search costs the more the fuller its bucket is, in proportion (r² at least {LEAST_FIT:g})",
        "a bucket with one tuple more costs one comparison more",
        _line,
        lambda _, per_tuple, fit: per_tuple > 0 and fit >= LEAST_FIT,
        "{:.1f} ns and {:.1f} ns per tuple in the bucket, r² {:.2f}",
    ),
    Claim(
        "A B+tree takes more memory than a T-tree",
        "a B+tree takes about 10 % more memory than a T-tree, hash buckets about 5 %",
        lambda m: tuple(m["bytes"][structure] / m["bytes"]["T"] - 1 for structure in "BH"),
        lambda b, _: b > 0,
        "{:+.0%}; hash buckets {:+.0%}",
    ),
)


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


EXPERIMENTS = (
    tables_experiment(
        "kn_bucket_sizes", "Hash buckets of 2 to 100 tuples", "Kang et al., section 5.1", measure, CLAIMS, draw
    ),
)
