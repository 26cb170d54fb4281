"""Runs the driver on the strategies' cases, in several ways, and observes it in the oracle's terms."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.expressions.nodes import Expression
from punctuated.intake.reading import Reader
from punctuated.model.batch import BucketId
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.spec import LEFT, JoinSpec, JoinType, Side
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.state.setup import ONLY_BUCKET
from punctuated.testing.checks import COUNTED, DOMAIN, Observed, extent
from punctuated.testing.strategies import Batch, Case
from punctuated.testing.tables import as_batch, stream_schema

Continue = Callable[[JoinDriver], JoinDriver]
INTEGER = pa.int64()
TEXTS = tuple(f"{letter}{more}" for letter in "`abcdefghi" for more in ("", "m"))  # the strategies' keys as text


def bound_join(
    spec: JoinSpec, where: Expression | None = None, n_buckets: int = 1, schemas: Sequence[pa.Schema] | None = None
) -> BoundJoin:
    """What `pt.join` would bind for the strategies' streams."""
    schemas = schemas or [stream_schema(stream) for stream in spec.streams]
    types = tuple(schemas[LEFT].field(name).type for name in spec.left.key)
    inputs = (Reader(stream, None, schema, types) for stream, schema in zip(spec.streams, schemas, strict=True))
    return BoundJoin(spec, tuple(inputs), where, n_buckets)


def new_driver(
    spec: JoinSpec,
    where: Expression | None = None,
    hash_bits: int = 64,
    place: BucketId = ONLY_BUCKET,
    schemas: Sequence[pa.Schema] | None = None,
    sample_us: int | None = None,
) -> JoinDriver:
    bound = bound_join(spec, where, place.n, schemas)
    return bound.driver(place.number, timed=True, hash_bits=hash_bits, sample_us=sample_us)


def run(
    spec: JoinSpec, batches: Sequence[Batch], driver: JoinDriver | None = None, between: Continue | None = None
) -> list[Observed]:
    """What each batch brings, the end included; `between` may exchange the driver after each batch."""
    driver = driver or new_driver(spec)
    domain = DOMAIN if driver.codec.types[:1] in ((), (INTEGER,)) else TEXTS
    seen = []
    for left, right in batches:
        both = zip(spec.streams, (left, right), driver.schemas, strict=True)
        brought = driver.process(*(as_batch(*each) for each in both))
        seen.append(observe(driver, brought, domain))
        driver = between(driver) if between is not None else driver
    return [*seen, observe(driver, driver.end(), domain)]


def observe(driver: JoinDriver, batch: BatchResult, domain: Sequence[Any] = DOMAIN) -> Observed:
    spec = driver.spec
    left, right = driver.state.sides["live"].tolist()
    seen = Observed(stored=(left, right), forgotten=driver.forgotten)
    for name in COUNTED:
        setattr(seen, name, int(driver.state.common[name][0]))
    for table, times in zip(batch.results, batch.result_ts, strict=True):
        for row, ts in zip(table.to_pylist(), times.tolist(), strict=True):
            _count_row(seen, spec, row, ts)
    for told in batch.punctuations:
        for row in told.table.to_pylist():
            patterns = parse_punctuation(row["pattern"], driver.codec.types)
            named = tuple(row[name] for name in spec.left.key)
            key, covered = (None, extent(patterns, domain)) if None in named else (named, None)
            seen.punctuations[key, covered, row["ts"], row["reason"]] += 1
    for rejected in batch.rejected:
        for row in rejected.table.to_pylist():
            seen.rejected[row["stream"] == spec.left.name, tuple(json.loads(row["row"]).values()), row["reason"]] += 1
    return seen


def add_up(buckets: Sequence[Observed]) -> Observed:
    """What several buckets brought, together."""
    total = Observed()
    for each in buckets:
        for name in ("results", "unmatched", "punctuations", "rejected", *COUNTED):
            setattr(total, name, getattr(total, name) + getattr(each, name))
        total.stored = total.stored[0] + each.stored[0], total.stored[1] + each.stored[1]
    return total


def is_spreadable(case: Case) -> bool:
    """A window over the last tuples of a whole stream needs one bucket, and so does a count of endings to be exact."""
    return not case.spec.counts_whole_streams and case.spec.purge_threshold == 1


def _count_row(seen: Observed, spec: JoinSpec, row: dict[str, object], ts: int) -> None:
    """A result row in terms of its tuples; a side is absent if its time is null."""
    one_sided = spec.how in (JoinType.SEMI, JoinType.ANTI)
    left, right = (
        _tuple_of(spec, side, row, "" if one_sided else suffix) for side, suffix in zip(Side, ENDS, strict=True)
    )
    if one_sided:
        right = None
    if spec.how is JoinType.SEMI or (left is not None and right is not None):
        seen.results[left, right, ts] += 1
    else:
        seen.unmatched[left is not None, left if left is not None else right, ts] += 1


ENDS = ("_left", "_right")


def _tuple_of(spec: JoinSpec, side: Side, row: dict[str, object], suffix: str) -> tuple[object, ...] | None:
    if row.get(f"ts{suffix}") is None:
        return None
    columns = spec.streams[side].columns
    keys = dict(zip(spec.streams[side].key, spec.left.key, strict=True))  # they come once, under the left name
    names = [keys.get(name, f"{name}{suffix}") for name in columns]
    return tuple(row[long] if long in row else row.get(name) for long, name in zip(names, columns, strict=True))
