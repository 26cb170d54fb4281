"""Runs joins of any number of streams on the strategies' cases, and observes them in the oracle's terms."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from punctuated.expressions.nodes import Expression
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.spec import JoinSpec
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.state.setup import DriverSetup
from punctuated.testing.checks import DOMAIN, extent
from punctuated.testing.multiway_reference import MultiwayReference, Where
from punctuated.testing.reference_state import BatchOutput
from punctuated.testing.strategies import Batch, Case
from punctuated.testing.tables import as_batch, stream_schema

COUNTED = ("purged", "invalidated", "discarded", "dropped")
Seen = dict[str, Any]


def new_driver(spec: JoinSpec, hash_bits: int = 64, where: Expression | None = None) -> JoinDriver:
    schemas = tuple(stream_schema(stream) for stream in spec.streams)
    types = (pa.int64(),) * len(spec.left.key)
    return JoinDriver(DriverSetup(spec, schemas, types, where, timed=True, hash_bits=hash_bits))


def run(
    spec: JoinSpec,
    batches: Sequence[Batch],
    driver: JoinDriver | None = None,
    between: Callable[[JoinDriver], JoinDriver] | None = None,
) -> list[Seen]:
    """What each batch brings, the end included; `between` may exchange the driver after each batch."""
    driver = driver or new_driver(spec)
    seen = []
    for batch in batches:
        given = zip(spec.streams, batch, driver.schemas, strict=True)
        seen.append(observe(driver, driver.process(*(as_batch(*each) for each in given))))
        driver = between(driver) if between is not None else driver
    return [*seen, observe(driver, driver.end())]


def shown(spec: JoinSpec, side: int, column: str) -> str:
    """What a column is called in the results; both of two streams have all columns."""
    if column == "k":
        return column
    return f"{spec.streams[side].name}_{column}" if len(spec.streams) > 2 else f"{column}_{('left', 'right')[side]}"


def observe(driver: JoinDriver, batch: BatchResult) -> Seen:
    spec = driver.spec
    seen: Seen = {
        "results": Counter(
            (*(tuple(row[shown(spec, side, name)] for name in spec.streams[side].columns) for side in spec.sides), ts)
            for table, times in zip(batch.results, batch.result_ts, strict=True)
            for row, ts in zip(table.to_pylist(), times.tolist(), strict=True)
        ),
        "rejected": Counter(
            (row["stream"], tuple(json.loads(row["row"]).values()), row["reason"])
            for rejected in batch.rejected
            for row in rejected.table.to_pylist()
        ),
        "stored": tuple(driver.state.sides["live"].tolist()),
        "forgotten": driver.forgotten,
    }
    said: Counter[Any] = Counter()
    for told in batch.punctuations:
        for row in told.table.to_pylist():
            covered = None if row["k"] is not None else extent(parse_punctuation(row["pattern"], [pa.int64()]), DOMAIN)
            said[row["k"], covered, row["ts"], row["reason"]] += 1
    return seen | {"punctuations": said} | {name: int(driver.state.common[name][0]) for name in COUNTED}


def expected(spec: JoinSpec, batches: Sequence[Batch], where: Where | None = None) -> list[Seen]:
    """What the oracle says that looks for partners by value, as operators do."""
    oracle = MultiwayReference(spec, where, by_value=True)
    return [_as_seen(spec, oracle.process(*batch)) for batch in batches] + [_as_seen(spec, oracle.end())]


def _as_seen(spec: JoinSpec, output: BatchOutput) -> Seen:
    results = zip(output.results, output.result_ts, strict=True)
    return {
        "results": Counter((*(row.values for row in members if row is not None), ts) for members, ts in results),
        "rejected": Counter((spec.streams[each.side].name, each.row.values, each.reason) for each in output.rejected),
        "stored": output.stored,
        "forgotten": output.forgotten,
        "punctuations": Counter(
            (each.key and each.key[0], extent(each.patterns, DOMAIN), each.ts, each.reason)
            for each in output.punctuations
        ),
    } | {name: getattr(output, name) for name in COUNTED}


def check(case: Case, found: Sequence[Seen], but: Sequence[str] = (), where: Where | None = None) -> None:
    for number, (mine, theirs) in enumerate(zip(found, expected(case.spec, case.batches, where), strict=True)):
        for name in theirs:
            if name not in but:
                assert mine[name] == theirs[name], f"batch {number}, {name}: got {mine[name]}, wanted {theirs[name]}"
