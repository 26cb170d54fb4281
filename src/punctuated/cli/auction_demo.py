"""The auction query of the paper, live: bids per auction within a window of its opening (PW-39 … PW-43).

Spark joins the streams with PWJoin, which knows that every auction opens once and which bid is the last. What a join
would have to remember that knows the window only is found by running WJoin on the same batches in this process, without
Spark: it is the same code that Spark's workers run, and how much it remembers does not depend on who runs it.

Generated auctions last five minutes on average, so the window is ten minutes here instead of twelve hours.
"""

import json
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import median
from typing import Any

import punctuated as pt
from punctuated.cli import plot
from punctuated.cli.demo_tables import (
    LOADING,
    Measured,
    Streams,
    TableQuery,
    declare,
    last_row,
    make_streams,
    needed_kernels,
    on_tables,
)
from punctuated.cli.demo_view import WITH, WITHOUT, Moment, Reading, View, key
from punctuated.errors import PunctuatedError
from punctuated.runtime.kernel_groups import Kernels
from punctuated.runtime.warm_up import compile_beside
from punctuated.spark.session.local import check_java, local_spark, read_files, write_files

AUCTIONS, BATCHES = 20_000, 40

SETTINGS = {
    "spark.driver.memory": "1g",
    # Only the quick compiler, and one thread that collects garbage: Spark is ready in half the time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def run(view: View, out: Path, auctions: int = AUCTIONS, batches: int = BATCHES, spark: bool = True) -> bool:
    """Run the query both ways and write `demo.png` and `demo.json` to `out`; whether both gave the same results."""
    if spark:
        check_java("see the same without Spark: punctuated demo --no-spark")
    try:
        return _run(view, out, auctions, batches, spark)
    finally:
        view.close()


def _run(view: View, out: Path, auctions: int, batches: int, spark: bool) -> bool:
    view.say(
        "How many bids does each auction get within ten minutes of its opening?",
        f"{auctions:,} auctions and the bids on them, in {batches} batches.",
        f"{WITH.capitalize()}: PWJoin, on {'a local Spark' if spark else 'tables, without Spark'}.",
        f"{WITHOUT.capitalize()}: WJoin on the same batches, in this process{', beside Spark' if spark else ''}.",
        "",
    )
    given = make_streams(auctions, batches)
    out.mkdir(parents=True, exist_ok=True)
    without = TableQuery(given.joined(aware=False))
    moments: list[Moment] = []
    with closing(on_spark(given, view, out / "spark.log") if spark else on_tables(given, view)) as steps:
        for measured in steps:
            theirs = without.up_to(measured.batch)
            minutes = (measured.batch + 1) * given.step_s / 60
            readings = {WITH: measured.reading, WITHOUT: theirs}
            moments.append(Moment(measured.batch, batches, minutes, readings, measured.ms, measured.latest))
            view.show(moments[-1])
    summary = _summary(moments, on="spark" if spark else "tables")
    _write(out, moments, summary)
    view.end(summary, _in_words(summary), out / "demo.png")
    return bool(summary["same_results"])


# On Spark


def on_spark(given: Streams, view: View, log: Path) -> Generator[Measured]:
    """The join with punctuations as a streaming query, one micro-batch per batch; Spark's messages go to `log`."""
    needed = needed_kernels(given)
    with (
        tempfile.TemporaryDirectory(prefix="punctuated-demo-") as name,
        _session(Path(name), view, log, needed) as spark,
    ):
        folder = Path(name)
        opened, offered = (
            read_files(spark, write_files(folder / stream, tables))
            for stream, tables in (("auctions", given.opened), ("bids", given.offered))
        )
        counts = pt.join(*declare(opened, offered, aware=True)).group_by("item_id").agg(bids=pt.count())
        yield from _listen(spark, counts, folder / "checkpoint", view, log)


def _listen(spark: Any, counts: Any, checkpoint: Path, view: View, log: Path) -> Iterator[Measured]:
    """What the query says about itself after each micro-batch, and the groups that came out."""
    heard: SimpleQueue[pt.metrics.JoinMetrics | None] = SimpleQueue()
    groups: dict[int, tuple[int, tuple[int, int] | None]] = {}

    def take(frame: Any, batch: int) -> None:
        table = frame.toArrow()
        groups[batch] = len(table), last_row(table)

    pt.metrics.listen(spark, pt.metrics.Call(heard.put, lambda _: heard.put(None)))
    with view.busy(f"first micro-batch; Spark warms up, beside {LOADING}"):
        writer = counts.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        metrics = _next(heard, query)
    while metrics is not None:
        final = sum(n for batch, (n, _) in groups.items() if batch <= metrics.batch_id)
        yield Measured(metrics.batch_id, _reading(metrics.total, final), metrics.batch_ms, groups[metrics.batch_id][1])
        metrics = _next(heard, query)
    failure = query.exception()
    if failure is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{failure}\n")
        raise PunctuatedError(f"the query on Spark failed; what Spark said is in {log}") from failure


def _next(heard: SimpleQueue[pt.metrics.JoinMetrics | None], query: Any) -> pt.metrics.JoinMetrics | None:
    """The next metrics; None after the query's end, or if its end was not heard of."""
    while True:
        is_active = query.isActive
        try:
            return heard.get(timeout=5)
        except Empty:
            if not is_active:
                return None


def _reading(total: pt.metrics.Counters, final: int) -> Reading:
    return Reading(
        tuples=total.tuples_left + total.tuples_right,
        results=total.results,
        final=final,
        auctions_in_state=total.state_left,
        bids_in_state=total.state_right,
    )


@contextmanager
def _session(folder: Path, view: View, log: Path, needed: tuple[Kernels, ...]) -> Iterator[Any]:
    """A local Spark; kernels that are not there yet are compiled while it starts, and while it plans the query."""
    with ThreadPoolExecutor(1) as beside, ExitStack() as stack:
        beside.submit(compile_beside, needed)
        with view.busy("starting Spark"):
            spark = stack.enter_context(local_spark("punctuated demo", folder, log, SETTINGS))
        yield spark


# Summary


def _summary(moments: Sequence[Moment], on: str) -> dict[str, Any]:
    last = moments[-1].readings
    summary: dict[str, Any] = {
        "on": on,
        "batches": len(moments),
        "median_batch_ms": round(median(moment.ms for moment in moments), 1),
        "same_results": last[WITH].results == last[WITHOUT].results,
    }
    for name in (WITH, WITHOUT):
        readings = [moment.readings[name] for moment in moments]
        summary[key(name)] = asdict(last[name]) | {
            "most_in_state": _most(readings, lambda reading: reading.in_state),
            "most_auctions_in_state": _most(readings, lambda reading: reading.auctions_in_state),
        }
    return summary


def _most(readings: Sequence[Reading], what: Callable[[Reading], int]) -> int:
    return max(what(reading) for reading in readings)


def _in_words(summary: Mapping[str, Any]) -> list[str]:
    ours, theirs = summary[key(WITH)], summary[key(WITHOUT)]
    same = "the same" if summary["same_results"] else "DIFFERENT"
    times = theirs["most_in_state"] / max(1, ours["most_in_state"])
    where = "Spark" if summary["on"] == "spark" else "The join over tables"
    return [
        f"{where} took {summary['median_batch_ms']:,.0f} ms per batch (median of {summary['batches']}).",
        f"Both joins gave {same} number of results: {ours['results']:,}.",
        f"Most tuples in state: {ours['most_in_state']:,} {WITH}, {theirs['most_in_state']:,} {WITHOUT}: "
        f"{times:,.0f} times as many.",
        f"Auctions among them: {ours['most_auctions_in_state']:,} and {theirs['most_auctions_in_state']:,}; the window "
        "alone keeps an auction after its last bid.",
        "The rest are bids: a join that cannot know that an auction opens only once keeps them for the next opening, "
        "and no window of the query bounds them.",
        f"Auctions whose number of bids is final: {ours['final']:,} {WITH}, {theirs['final']:,} {WITHOUT}.",
    ]


def _write(out: Path, moments: Sequence[Moment], summary: Mapping[str, Any]) -> None:
    (out / "demo.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    minutes = [0.0, *(moment.minutes for moment in moments)]
    names = {WITHOUT: "WJoin", WITH: "PWJoin, on Spark" if summary["on"] == "spark" else "PWJoin"}
    panels: tuple[tuple[str, Callable[[Reading], int]], ...] = (
        ("auctions and bids", lambda reading: reading.in_state),
        ("auctions alone", lambda reading: reading.auctions_in_state),
    )
    with plot.picture(out / "demo.png", "What the join has to remember", panels=len(panels)) as both:
        for axes, (title, what) in zip(both, panels, strict=True):
            for name, shown in names.items():
                like = shown.partition(",")[0]
                counts = [0, *(what(moment.readings[name]) for moment in moments)]
                label, colour = f"{name} ({shown})", plot.COLOURS[like]
                axes.plot(minutes, counts, plot.LINES[like], color=colour, linewidth=2.2, label=label)
            plot.label(axes, "event time (minutes)", "tuples in state", title)
            plot.headroom(axes)
        plot.legend_below(both, columns=2)
