"""The auction query of the paper, live: bids per auction within a window of its opening (PW-39 … PW-43).

The same streams go through two joins side by side: PWJoin, which knows that every auction opens once and which bid is
the last, and WJoin, which knows the window only. Generated auctions last five minutes on average, so the window is ten
minutes here instead of twelve hours.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.run import SECOND_US, Prepared, cut, prepare
from punctuated.join.counters import current_counts
from punctuated.join.driver import JoinDriver
from punctuated.join.group_by import GroupBy
from punctuated.join.output import BatchResult
from punctuated.model.times import to_microseconds

AUCTIONS, BATCHES, REPLAY_S = 20_000, 150, 12.0
WINDOW = "10 minutes"
_PLAIN_LINES = 15
WITH, WITHOUT = "with punctuations", "without punctuations"


@dataclass(frozen=True)
class Reading:
    """Where one join stands after a batch."""

    tuples: int
    results: int
    final: int  # auctions whose number of bids is known for good
    auctions_in_state: int
    bids_in_state: int

    @property
    def in_state(self) -> int:
        return self.auctions_in_state + self.bids_in_state


class Query:
    """`SELECT item_id, count(*) … GROUP BY item_id` over one join."""

    def __init__(self, prepared: Prepared) -> None:
        self.driver: JoinDriver = prepared.driver()
        schema, key = self.driver.columns.schema, prepared.spec.left.key
        self._groups = GroupBy(schema, ["item_id"], key, {"bids": pt.count()}, self.driver.codec)
        self._final = 0

    def take(self, batch: BatchResult) -> Reading:
        """Count what a batch has brought."""
        self._final += len(self._groups.process(batch))
        counts = current_counts(self.driver.state, self.driver.memory.forgotten)
        return Reading(
            tuples=counts["tuples_left"] + counts["tuples_right"],
            results=counts["results"],
            final=self._final,
            auctions_in_state=counts["state_left"],
            bids_in_state=counts["state_right"],
        )


def run(console: Console, out: Path, auctions: int = AUCTIONS, batches: int = BATCHES) -> None:
    """Run the query both ways and write `demo.png` and `demo.json` to `out`.

    On a terminal the streams are replayed over some seconds, so that there is something to watch; otherwise they are
    run as fast as they go, and lines are printed.
    """
    _say(
        console,
        "How many bids does each auction get within ten minutes of its opening?",
        f"{auctions:,} auctions and the bids on them, once {WITH} and once {WITHOUT}.",
        "On its first run on a machine the join is compiled, which takes a while.",
        "",
    )
    joins, step_s = _prepare(auctions, batches)
    queries = {name: Query(prepared) for name, prepared in joins.items()}
    history: dict[str, list[Reading]] = {name: [] for name in joins}
    last = max(len(prepared.batches) for prepared in joins.values())
    clock = _Clock(REPLAY_S / last if console.is_terminal else 0.0)
    with _display(console, last) as show:
        for i in range(last):
            for name, prepared in joins.items():
                history[name].append(queries[name].take(queries[name].driver.process(*prepared.batches[i])))
            show.update((i + 1) * step_s, {name: readings[-1] for name, readings in history.items()})
            clock.wait()
    before_end = {name: readings[-1] for name, readings in history.items()}
    ended = {name: query.take(query.driver.end()) for name, query in queries.items()}
    _summarise(console, history, before_end, ended)
    _write(out, history, before_end, step_s)
    _say(console, f"picture: {out / 'demo.png'}")


def _prepare(auctions: int, batches: int) -> tuple[dict[str, Prepared], float]:
    """Both joins on the same batches, each of so many seconds of event time."""
    opened, offered = pt.streams.auctions(auctions, seed=1)
    last_us = max(int(to_microseconds(t[c], c)[-1]) for t, c in ((opened, "opened_at"), (offered, "bid_at")))
    step_us = last_us // batches + 1
    opened_batches, offered_batches = cut(opened, step_us, "opened_at"), cut(offered, step_us, "bid_at")
    joins = {}
    for name, algorithm, aware in ((WITH, "pwjoin", True), (WITHOUT, "wjoin", False)):
        left = pt.stream(
            opened_batches,
            name="Auction",
            key="item_id",
            time="opened_at",
            window=WINDOW,
            punctuations=pt.unique() if aware else None,
        )
        right = pt.stream(
            offered_batches,
            name="Bid",
            key="item_id",
            time="bid_at",
            punctuations=pt.when("closed") if aware else None,
        )
        joins[name] = prepare(left, right, algorithm)
    return joins, step_us / SECOND_US


class _Clock:
    """Lets each batch last at least this long."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._due = seconds, time.monotonic()

    def wait(self) -> None:
        self._due += self._seconds
        time.sleep(max(0.0, self._due - time.monotonic()))


class _Lines:
    """Plain lines, a few over the whole run."""

    def __init__(self, console: Console, steps: int) -> None:
        self._console, self._every, self._step, self._steps = console, max(1, steps // _PLAIN_LINES), 0, steps

    def update(self, seconds: float, readings: dict[str, Reading]) -> None:
        self._step += 1
        if self._step % self._every and self._step != self._steps:
            return
        ours, theirs = readings[WITH], readings[WITHOUT]
        _say(
            self._console,
            f"{seconds / 60:5.1f} min  {ours.tuples:>9,} tuples in  {ours.results:>9,} results  "
            f"{ours.final:>7,} auctions final  state {ours.in_state:>7,} with, {theirs.in_state:>9,} without",
        )


class _LiveTable:
    """A table that is redrawn in place."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def update(self, seconds: float, readings: dict[str, Reading]) -> None:
        self._live.update(_table(f"after {seconds / 60:.1f} minutes of auctions", readings))


@contextmanager
def _display(console: Console, steps: int) -> Iterator[_Lines | _LiveTable]:
    if not console.is_terminal:
        yield _Lines(console, steps)
        return
    with Live(console=console, refresh_per_second=12) as live:
        yield _LiveTable(live)


def _table(title: str, readings: dict[str, Reading]) -> Table:
    table = Table("", *readings, title=title)
    rows = (
        ("tuples in", "tuples"),
        ("results", "results"),
        ("auctions final", "final"),
        ("tuples in state", "in_state"),
        ("  auctions", "auctions_in_state"),
        ("  bids", "bids_in_state"),
    )
    for label, field in rows:
        table.add_row(label, *(f"{getattr(reading, field):,}" for reading in readings.values()))
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _summarise(
    console: Console, history: dict[str, list[Reading]], before_end: dict[str, Reading], ended: dict[str, Reading]
) -> None:
    most = {name: max(reading.in_state for reading in readings) for name, readings in history.items()}
    auctions = {name: max(reading.auctions_in_state for reading in readings) for name, readings in history.items()}
    same = "the same" if ended[WITH].results == ended[WITHOUT].results else "DIFFERENT"
    times = most[WITHOUT] / max(1, most[WITH])
    _say(
        console,
        "",
        f"Both gave {same} results: {ended[WITH].results:,} bids on {ended[WITH].final:,} auctions.",
        f"Most tuples in state: {most[WITH]:,} {WITH}, {most[WITHOUT]:,} {WITHOUT}: {times:,.0f} times as many.",
        f"Most auctions among them: {auctions[WITH]:,} and {auctions[WITHOUT]:,}. The rest are bids, kept only by the "
        "join that cannot know that an auction opens once.",
        f"Auctions final before the streams ended: {before_end[WITH].final:,} {WITH}, "
        f"{before_end[WITHOUT].final:,} {WITHOUT}.",
    )


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)


def _write(out: Path, history: dict[str, list[Reading]], before_end: dict[str, Reading], step_s: float) -> None:
    out.mkdir(parents=True, exist_ok=True)
    summary = {
        name: asdict(reading) | {"most_in_state": max(r.in_state for r in history[name])}
        for name, reading in before_end.items()
    }
    (out / "demo.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    minutes = [(i + 1) * step_s / 60 for i in range(len(history[WITH]))]
    with plot.picture(out / "demo.png", "Auctions and bids that the join has to remember") as (axes,):
        for name, like in ((WITHOUT, "WJoin"), (WITH, "PWJoin")):
            counts = [reading.in_state for reading in history[name]]
            axes.plot(
                minutes, counts, plot.LINES[like], color=plot.COLOURS[like], linewidth=2.2, label=f"{name} ({like})"
            )
        plot.label(axes, "time (minutes)", "tuples in both states")
        plot.headroom(axes)
        plot.legend(axes, "upper left")
