"""States that are kept: small joins of every kind, written in the middle, and what they bring when they go on.

    python -m golden.states FOLDER    writes the states of this version, with `tests` on the path

A change of what is saved must raise `fingerprint.FORMAT`. Then the states of the version before stay in their folder,
which must be refused with what to do, and those of the new version are written into a folder of their own.
"""

import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from driver_harness import bound_join
from punctuated.arrow.ipc import pack_bundle, unpack_bundle
from punctuated.model.algorithm import pair
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Constant, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType, StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.operator.driver import JoinDriver
from punctuated.snapshot.journal import Journal, restore
from punctuated.testing.strategies import COLUMNS

N_BATCHES, N_SAVED = 6, 3
LEFT_STREAM = StreamSpec("A", COLUMNS[LEFT], ("k",), "ts", TimeWindow(40), lateness_us=4, flag="f", punctuated=True)
RIGHT_STREAM = replace(LEFT_STREAM, name="B", columns=COLUMNS[RIGHT])
PLAIN = replace(LEFT_STREAM, flag=None, punctuated=False), replace(RIGHT_STREAM, flag=None, punctuated=False)

INTEGERS, TEXTS = pa.int64(), pa.string()
JOINS: dict[str, tuple[JoinSpec, pa.DataType]] = {
    "integers": (JoinSpec((LEFT_STREAM, RIGHT_STREAM), JoinType.FULL), INTEGERS),
    "texts": (JoinSpec((LEFT_STREAM, RIGHT_STREAM), JoinType.LEFT), TEXTS),
    "clustered": (JoinSpec((replace(LEFT_STREAM, clustered=True), RIGHT_STREAM)), INTEGERS),
    "count windows": (
        JoinSpec(
            (
                replace(LEFT_STREAM, window=CountWindow(7), lateness_us=0),
                replace(RIGHT_STREAM, window=CountWindow(2, per_key=True), lateness_us=0),
            )
        ),
        INTEGERS,
    ),
    "lazy purge": (JoinSpec((LEFT_STREAM, RIGHT_STREAM), JoinType.ANTI, purge_threshold=5), INTEGERS),
    "windows of their own": (
        JoinSpec((replace(LEFT_STREAM, window=UntilWindow("v")), RIGHT_STREAM), JoinType.LEFT),
        INTEGERS,
    ),
    "structures": (JoinSpec(PLAIN, algorithm=pair("HT")), TEXTS),
}


def driver_of(name: str) -> JoinDriver:
    spec, key = JOINS[name]
    schema = {"k": key, "ts": pa.int64(), "v": pa.int64(), "w": pa.int64(), "f": pa.bool_()}
    schemas = [pa.schema([(column, schema[column]) for column in stream.columns]) for stream in spec.streams]
    return bound_join(spec, schemas=schemas).driver(timed=True)


def batches(name: str, number: int) -> list[StreamBatch]:
    """The same in every version: nothing is drawn."""
    driver = driver_of(name)
    made = []
    for side, (stream, schema) in enumerate(zip(driver.spec.streams, driver.schemas, strict=True)):
        keys = [(number * 3 + i * (side + 2)) % 11 for i in range(12)]
        is_text = schema.field("k").type == TEXTS
        times = [number * 12 + i for i in range(12)]
        ends = isinstance(stream.window, UntilWindow)
        third = [number * 12 + 3 * key for key in keys] if ends else keys
        columns = [[f"{key:02}" for key in keys] if is_text else keys, times, third, [key % 5 == 0 for key in keys]]
        low, high = ("00", "02") if is_text else (0, 2)
        told = (
            Punctuation(number * 12 + 20, (Range(low, high), WILDCARD, WILDCARD, WILDCARD)),
            Punctuation(number * 12 + 3, (WILDCARD, WILDCARD, Constant(99), WILDCARD)),
            Punctuation(number * 12 + 30, (Constant(high), WILDCARD, WILDCARD, WILDCARD), in_band=False),
        )
        punctuations = told if stream.punctuated and number == 1 else ()
        made.append(StreamBatch(pa.table(columns, schema=schema), punctuations=punctuations))
    return made


def saved(name: str) -> bytes:
    """The state after some batches, an entry for each."""
    driver, journal, entries = driver_of(name), Journal(), {}
    for number in range(N_SAVED):
        driver.process(*batches(name, number))
        entries[str(number)] = journal.write(driver)
    return pack_bundle(entries)


def gone_on(name: str, state: bytes | None) -> list[str]:
    """What the later batches bring, from a saved state or from a run in one piece."""
    driver = driver_of(name)
    if state is None:
        for number in range(N_SAVED):
            driver.process(*batches(name, number))
    else:
        restore(driver, [bytes(entry) for entry in unpack_bundle(state).values()])
    later = [driver.process(*batches(name, number)) for number in range(N_SAVED, N_BATCHES)]
    tables = [
        table
        for batch in [*later, driver.end()]
        for table in (*batch.results, *(each.table for each in (*batch.punctuations, *batch.rejected)))
    ]
    return [*sorted(str(row) for table in tables for row in table.to_pylist()), str(driver.counts())]


if __name__ == "__main__":
    for each in JOINS:
        (Path(sys.argv[1]) / f"{each.replace(' ', '_')}.state").write_bytes(saved(each))
