"""Range endings at flat cost: how long a batch takes after more and more of them, and how many entries are kept.

Each batch brings 20 tuples and a range ending of each stream, or of one. Milliseconds are the median of the last
batches before each mark, of CPU time, so that other programs do not count; the journal's entry for the last of them is
measured beside it. Prints lines as they come, writes JSON.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.operator.driver import JoinDriver
from punctuated.snapshot.journal import Journal
from punctuated.state.setup import DriverSetup

COLUMNS = ("key", "ts", "val")
TUPLES = 10  # of each stream in a batch
LAST = 50  # batches that a median is of
MARKS = (100, 1_000, 10_000, 100_000)  # range punctuations
RANDOM = np.random.default_rng(1)


@dataclass(frozen=True)
class Shape:
    """How ranges lie: the `step` from one to the next, of `width` keys each."""

    name: str
    width: int
    step: int
    sides: int = 2
    text: bool = False
    lateness: int = 0
    shuffled: bool = False
    largest: int = MARKS[-1]


SHAPES = (
    Shape("side by side", 4, 4),
    Shape("apart", 4, 8),
    Shape("apart, in any order", 4, 8, shuffled=True),
    Shape("overlapping", 8, 4),
    Shape("of one stream, side by side", 4, 4, sides=1),
    Shape("of one stream, apart", 4, 8, sides=1),
    Shape("1,000 of each stream pending", 4, 4, lateness=20_000),
    Shape("text, side by side", 4, 4, text=True, largest=10_000),
    Shape("text, apart", 4, 8, text=True, largest=10_000),
)


@dataclass(frozen=True)
class Measured:
    """What one shape gave after so many range punctuations."""

    shape: str
    punctuations: int
    ms: float
    journal_ms: float
    entries: int


def spec(shape: Shape) -> JoinSpec:
    """Both streams with the same window."""
    left, right = (
        StreamSpec(name, COLUMNS, ("key",), "ts", TimeWindow(100), lateness_us=shape.lateness, punctuated=True)
        for name in "AB"
    )
    return JoinSpec((left, right))


def batch(shape: Shape, at: int, number: int, ends: bool) -> StreamBatch:
    """Tuples of the range to come and of the one before it, then the end of that one."""
    ts = 20 * number
    key = _text if shape.text else int
    keys = [key(at * shape.step + i) for i in RANDOM.integers(0, shape.width, TUPLES).tolist()]
    rows = pa.table({"key": keys, "ts": ts + np.arange(TUPLES), "val": np.arange(TUPLES)})
    low, high = key(at * shape.step), key(at * shape.step + shape.width)
    pattern = Range(low, high, high_closed=False)
    said = Punctuation(ts + 15, (pattern, WILDCARD, WILDCARD))
    return StreamBatch(rows, punctuations=(said,) if ends else ())


def _text(number: int) -> str:
    return f"{number:012d}"


def measure(shape: Shape, largest: int, report: Callable[[Measured], None]) -> None:
    """One run through all marks."""
    key = pa.string() if shape.text else pa.int64()
    schema = pa.schema([("key", key), ("ts", pa.int64()), ("val", pa.int64())])
    driver = JoinDriver(DriverSetup(spec(shape), (schema, schema), (key,)))
    marks = {mark // shape.sides: mark for mark in MARKS if mark <= min(largest, shape.largest)}
    n_batches = max(marks)
    order = RANDOM.permutation(n_batches) if shape.shuffled else np.arange(n_batches)
    journal, seconds = Journal(), list[float]()
    for number, at in enumerate(order.tolist(), start=1):
        left, right = batch(shape, at, number, True), batch(shape, at, number, shape.sides == 2)
        start = time.process_time()
        driver.process(left, right)
        seconds.append(time.process_time() - start)
        if number + 1 in marks:
            journal.write(driver)
        if number in marks:
            start = time.process_time()
            journal.write(driver)
            journal_ms = 1e3 * (time.process_time() - start)
            ms = 1e3 * statistics.median(seconds[-LAST:])
            report(Measured(shape.name, marks[number], ms, journal_ms, len(driver.punctuations.ranges)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=MARKS[-1], help="range punctuations of the longest run")
    parser.add_argument("--shape", help="only shapes whose name has this in it", default="")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/ranges.json"))
    options = parser.parse_args()
    pa.set_cpu_count(1)
    measured: list[dict[str, Any]] = []

    def report(each: Measured) -> None:
        measured.append(asdict(each))
        figures = f"{each.punctuations:>12,}{each.ms:>12.2f}{each.journal_ms:>20.2f}{each.entries:>14,}"
        print(f"{each.shape:32}{figures}", flush=True)

    measure(SHAPES[0], MARKS[0], lambda each: None)  # compile or load the kernels
    print(f"{'ranges':32}{'punctuations':>12}{'ms a batch':>12}{'ms a journal entry':>20}{'entries kept':>14}")
    for shape in SHAPES:
        if options.shape in shape.name:
            measure(shape, options.largest, report)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
