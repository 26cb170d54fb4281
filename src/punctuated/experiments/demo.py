"""The auction query of the paper, live: bids per auction within a window of its opening (PW-39 … PW-43).

Spark joins the streams with PWJoin, which knows that every auction opens once and which bid is the last. What a join
would have to remember that knows the window only is found by running WJoin on the same batches in this process, without
Spark: it is the same code that Spark's workers run, and how much it remembers does not depend on who runs it.

Generated auctions last five minutes on average, so the window is ten minutes here instead of twelve hours.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import punctuated as pt
from punctuated.errors import PunctuatedError
from punctuated.experiments import plot
from punctuated.experiments.demo_tables import (
    LOADING,
    Measured,
    Streams,
    TableQuery,
    declare,
    last_row,
    load_kernels,
    make_streams,
    on_tables,
)
from punctuated.experiments.demo_view import WITH, WITHOUT, Moment, Reading, View, key

if TYPE_CHECKING:
    from punctuated.spark.metrics import JoinMetrics

AUCTIONS, BATCHES = 20_000, 40
_OLDEST_JAVA = 17

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Only the quick compiler, and one thread that collects garbage: Spark is ready in half the time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}
# The demo runs on the Spark that was installed with this package, whatever else is set up on a machine.
_NOT_OURS = ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS")


def run(view: View, out: Path, auctions: int = AUCTIONS, batches: int = BATCHES, spark: bool = True) -> bool:
    """Run the query both ways and write `demo.png` and `demo.json` to `out`; whether both gave the same results."""
    if spark:
        check_java()
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
    without = TableQuery(given.prepared(aware=False))
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
    with tempfile.TemporaryDirectory(prefix="punctuated-demo-") as name, _session(Path(name), view, log) as spark:
        folder = Path(name)
        opened, offered = (
            _read_stream(spark, _write_batches(folder / stream, tables))
            for stream, tables in (("auctions", given.opened), ("bids", given.offered))
        )
        counts = pt.join(*declare(opened, offered, aware=True)).group_by("item_id").agg(bids=pt.count())
        yield from _listen(spark, counts, folder / "checkpoint", view, log)


def _write_batches(folder: Path, tables: Sequence[pa.Table]) -> Path:
    """One file per batch; Spark takes the oldest first."""
    folder.mkdir()
    for number, table in enumerate(tables):
        path = folder / f"{number:05}.parquet"
        pq.write_table(table, path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return folder


def _read_stream(spark: Any, folder: Path) -> Any:
    fields = pq.read_schema(folder / "00000.parquet")
    names = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.bool_(): "BOOLEAN"}
    ddl = ", ".join(f"{field.name} {names.get(field.type, 'TIMESTAMP')}" for field in fields)
    return spark.readStream.schema(ddl).option("maxFilesPerTrigger", 1).parquet(str(folder))


def _listen(spark: Any, counts: Any, checkpoint: Path, view: View, log: Path) -> Iterator[Measured]:
    """What the query says about itself after each micro-batch, and the groups that came out."""
    from punctuated.spark.metrics import Call, MetricsListener

    heard: SimpleQueue[JoinMetrics | None] = SimpleQueue()
    groups: dict[int, tuple[int, tuple[int, int] | None]] = {}

    def take(frame: Any, batch: int) -> None:
        table = frame.toArrow()
        groups[batch] = len(table), last_row(table)

    spark.streams.addListener(MetricsListener(Call(heard.put, lambda _: heard.put(None))))
    with view.busy("first micro-batch; Spark needs some seconds to warm up"):
        writer = counts.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        metrics = _next(heard, query)
    while metrics is not None:
        final = sum(n for batch, (n, _) in groups.items() if batch <= metrics.batch_id)
        yield Measured(metrics.batch_id, _reading(metrics, final), metrics.batch_ms, groups[metrics.batch_id][1])
        metrics = _next(heard, query)
    failure = query.exception()
    if failure is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{failure}\n")
        raise PunctuatedError(f"the query on Spark failed; what Spark said is in {log}") from failure


def _next(heard: "SimpleQueue[JoinMetrics | None]", query: Any) -> "JoinMetrics | None":
    """The next metrics; None after the query's end, or if its end was not heard of."""
    while True:
        is_active = query.isActive
        try:
            return heard.get(timeout=5)
        except Empty:
            if not is_active:
                return None


def _reading(metrics: "JoinMetrics", final: int) -> Reading:
    return Reading(
        tuples=metrics.total.tuples_left + metrics.total.tuples_right,
        results=metrics.total.results,
        final=final,
        auctions_in_state=metrics.state_left,
        bids_in_state=metrics.state_right,
    )


@contextmanager
def _session(folder: Path, view: View, log: Path) -> Iterator[Any]:
    """A local Spark; the join is loaded, or compiled, while it starts."""
    with view.busy(f"starting Spark, and {LOADING}"):
        from punctuated.spark.metrics import session_with

        for name in _NOT_OURS:
            os.environ.pop(name, None)
        os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise workers take the first python3 on the PATH
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        folders = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
        with ThreadPoolExecutor(1) as beside:
            loaded = beside.submit(load_kernels)
            with _stderr_to(log):
                spark = session_with("punctuated demo", SETTINGS | folders)
            loaded.result()
        spark.sparkContext.setLogLevel("ERROR")
    try:
        yield pt.configure(spark)
    finally:
        for query in spark.streams.active:
            query.stop()
        spark.stop()


@contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """Processes that are started meanwhile write their standard error to a file, for good."""
    sys.stderr.flush()
    ours = os.dup(2)
    with path.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def check_java() -> None:
    """Raise if Spark would not find a Java that is new enough: in JAVA_HOME, or else on the PATH."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    version = _java_version(java) if java else 0
    if version >= _OLDEST_JAVA:
        return
    if home:
        found = f"JAVA_HOME={home} holds {f'version {version}' if version else 'none'}"
    elif java:
        found = f"{java} {f'is version {version}' if version else 'does not run'}"
    else:
        found = "there is no java on the PATH"
    raise PunctuatedError(
        f"Spark needs Java {_OLDEST_JAVA} or newer, but {found}. Install it (Debian, Ubuntu: sudo apt-get install "
        f"openjdk-{_OLDEST_JAVA}-jre-headless; Fedora: sudo dnf install java-{_OLDEST_JAVA}-openjdk-headless; macOS: "
        f"brew install openjdk@{_OLDEST_JAVA}; scripts/ensure_java.sh tries it for you), or see the same without "
        "Spark: punctuated demo --no-spark"
    )


def _java_version(java: str) -> int:
    """17 for "17.0.15", 8 for "1.8.0_402", 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(version[1]) if version else 0


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
