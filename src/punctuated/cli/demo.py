"""`punctuated demo`: bids per auction within a window of its opening, with and without punctuations (PW-39 … PW-43).

Spark joins the streams with PWJoin, which knows that every auction opens once and which bid is the last. What a join
would have to remember that knows the window only is found by running WJoin on the same batches in this process.
Generated auctions last five minutes on average, so the window is ten minutes here instead of the paper's twelve hours.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from punctuated.cli import plot
from punctuated.cli.demo_joins import TableQuery, make_streams, on_spark, on_tables
from punctuated.cli.demo_progress import WITH, WITHOUT, DemoProgress, Reading, json_name
from punctuated.cli.view import JsonView, LinesView, LiveView, ProgressView
from punctuated.spark.session.local import check_java


def demo_view(as_json: bool) -> ProgressView:
    """The view of the demo: all of it, progress too, goes to standard output."""
    console = Console()
    if as_json:
        return JsonView(sys.stdout, busy_key="doing")
    return LiveView(console, keep_last=True) if console.is_terminal else LinesView(err=sys.stdout, every_s=0)


def run(view: ProgressView, out: Path, auctions: int, batches: int, spark: bool = True) -> bool:
    """Run the query both ways and write `demo.png` and `demo.json` to `out`; whether both gave the same results."""
    if spark:
        check_java("see the same without Spark: punctuated demo --no-spark")
    try:
        return _run(view, out, auctions, batches, spark)
    finally:
        view.close()


def _run(view: ProgressView, out: Path, auctions: int, batches: int, spark: bool) -> bool:
    view.report(
        (
            "How many bids does each auction get within ten minutes of its opening?",
            f"{auctions:,} auctions and the bids on them, in {batches} batches.",
            f"{WITH.capitalize()}: PWJoin, on {'a local Spark' if spark else 'tables, without Spark'}.",
            f"{WITHOUT.capitalize()}: WJoin on the same batches, in this process{', beside Spark' if spark else ''}.",
            "",
        )
    )
    streams = make_streams(auctions, batches)
    out.mkdir(parents=True, exist_ok=True)
    without = TableQuery(streams, aware=False)
    steps: list[DemoProgress] = []
    with closing(on_spark(streams, view, out / "spark.log") if spark else on_tables(streams, view)) as measured:
        for each in measured:
            readings = {WITH: each.reading, WITHOUT: without.up_to(each.batch)}
            minutes = (each.batch + 1) * streams.step_s / 60
            steps.append(DemoProgress(each.batch, batches, minutes, readings, each.ms, each.latest))
            view.show(steps[-1:])
    summary = _summary(steps, on="spark" if spark else "tables")
    _write(out, steps, summary)
    picture = out / "demo.png"
    view.close()
    view.report(("", *_in_words(summary), f"picture: {picture}"), "summary", **summary, picture=str(picture))
    return bool(summary["same_results"])


# Summary


def _summary(steps: Sequence[DemoProgress], on: str) -> dict[str, Any]:
    last = steps[-1].readings
    summary: dict[str, Any] = {
        "on": on,
        "batches": len(steps),
        "median_batch_ms": round(median(each.ms for each in steps), 1),
        "same_results": last[WITH].results == last[WITHOUT].results,
    }
    for name in (WITH, WITHOUT):
        readings = [each.readings[name] for each in steps]
        summary[json_name(name)] = asdict(last[name]) | {
            "most_in_state": max(each.in_state for each in readings),
            "most_auctions_in_state": max(each.auctions_in_state for each in readings),
        }
    return summary


def _in_words(summary: Mapping[str, Any]) -> list[str]:
    ours, other = summary[json_name(WITH)], summary[json_name(WITHOUT)]
    same = "the same" if summary["same_results"] else "DIFFERENT"
    times = other["most_in_state"] / max(1, ours["most_in_state"])
    engine = "Spark" if summary["on"] == "spark" else "The join over tables"
    return [
        f"{engine} took {summary['median_batch_ms']:,.0f} ms per batch (median of {summary['batches']}).",
        f"Both joins gave {same} number of results: {ours['results']:,}.",
        f"Most tuples in state: {ours['most_in_state']:,} {WITH}, {other['most_in_state']:,} {WITHOUT}: "
        f"{times:,.0f} times as many.",
        f"Auctions among them: {ours['most_auctions_in_state']:,} and {other['most_auctions_in_state']:,}; the window "
        "alone keeps an auction after its last bid.",
        "The rest are bids: a join that cannot know that an auction opens only once keeps them for the next opening, "
        "and no window of the query bounds them.",
        f"Auctions whose number of bids is final: {ours['final']:,} {WITH}, {other['final']:,} {WITHOUT}.",
    ]


def _write(out: Path, steps: Sequence[DemoProgress], summary: Mapping[str, Any]) -> None:
    (out / "demo.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    minutes = [0.0, *(each.minutes for each in steps)]
    names = {WITHOUT: "WJoin", WITH: "PWJoin, on Spark" if summary["on"] == "spark" else "PWJoin"}
    panels: tuple[tuple[str, Callable[[Reading], int]], ...] = (
        ("auctions and bids", lambda reading: reading.in_state),
        ("auctions alone", lambda reading: reading.auctions_in_state),
    )
    with plot.picture(out / "demo.png", "What the join has to remember", panels=len(panels)) as both:
        for axes, (title, count) in zip(both, panels, strict=True):
            for name, shown in names.items():
                algorithm = shown.partition(",")[0]
                counts = [0, *(count(each.readings[name]) for each in steps)]
                label, colour = f"{name} ({shown})", plot.COLOURS[algorithm]
                axes.plot(minutes, counts, plot.LINES[algorithm], color=colour, linewidth=2.2, label=label)
            plot.label(axes, "event time (minutes)", "tuples in state", title)
            plot.headroom(axes)
        plot.legend_below(both, columns=2)
