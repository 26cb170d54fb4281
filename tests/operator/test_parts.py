"""Everything that outlives a batch is a registered part of the state, or known to be made anew."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from driver_harness import bound_join
from punctuated.model.algorithm import PWJOIN, Algorithm, pair
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Constant, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.shed import Shed
from punctuated.model.spec import JoinSpec, Side, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.operator.driver import JoinDriver
from punctuated.plan.cost.model import CostModel
from punctuated.plan.optimizer import StructureChooser
from punctuated.shedding.control import Pace
from punctuated.testing.strategies import COLUMNS
from punctuated.testing.tables import stream_schema

# Saved by the part "arrays", which links them anew; and what the next batch makes anew, or nobody but a reader needs.
IN_ARRAYS = {"state", "rows"}
MADE_ANEW = {"collector", "samples"}
OWNERS = {"punctuations", "tactic", "parts", "allow"}  # they only hold what is looked at by itself


def a_driver(algorithm: Algorithm, key: pa.DataType, shed: Shed | None) -> JoinDriver:
    """Of every kind of thing that a driver may hold, as much as goes together."""
    punctuated = algorithm is PWJOIN
    streams = tuple(
        StreamSpec(
            name,
            COLUMNS[side],
            ("k",),
            "ts",
            TimeWindow(50),
            lateness_us=5,
            flag="f" if punctuated else None,
            clustered=punctuated,
            idle_after_us=10,
            punctuated=punctuated,
        )
        for side, name in zip(Side, "AB", strict=True)
    )
    spec = JoinSpec(streams, algorithm=algorithm, adaptive=not punctuated, shed=shed)
    schemas = [stream_schema(stream).set(0, pa.field("k", key)) for stream in streams]
    chooser = None if punctuated else StructureChooser(CostModel(), "=")
    return replace(bound_join(spec, None, 2, schemas), chooser=chooser).driver(0)


def a_batch(driver: JoinDriver, number: int) -> list[StreamBatch]:
    """Keys that recur, flags, and in punctuated streams a range and a promise."""
    batches = []
    for stream, schema in zip(driver.spec.streams, driver.schemas, strict=True):
        ts = np.arange(20) * 2 + number * 40
        keys = pa.array([f"{(number * 7 + i) % 9:03}" for i in range(20)]).cast(schema.field("k").type)
        rows = pa.table([keys, ts, ts, np.arange(20) % 5 == 4], schema=schema)
        low = "0000" if pa.types.is_string(keys.type) else -1
        told = (
            Punctuation(number * 40 + 60, (Range(None, low), WILDCARD, WILDCARD, WILDCARD)),
            Punctuation(number * 40 + 9, (WILDCARD, WILDCARD, Constant(3), WILDCARD)),
        )
        batches.append(StreamBatch(rows, punctuations=told if stream.punctuated else ()))
    return batches


def members(owner: Any) -> dict[str, Any]:
    return dict(vars(owner))


def digest(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """A value as plain data that compares, however deep."""
    if id(value) in seen:
        return "cycle"
    inside = (*seen, id(value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, pa.Table | pa.ChunkedArray | pa.Array):
        return repr(value.to_pylist())
    if isinstance(value, dict):
        return [(repr(key), digest(each, inside)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [digest(each, inside) for each in value]
    if type(value).__module__.startswith("punctuated"):
        return [(name, digest(getattr(value, name), inside)) for name in _fields(value)]
    return repr(value)


def _fields(value: Any) -> list[str]:
    return list(getattr(value, "__dict__", {})) or list(getattr(value, "__slots__", ()))


def parts_within(value: Any, seen: set[int]) -> Iterator[Any]:
    """Objects of ours below this one that know how to save themselves."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from parts_within(each, seen)
    elif type(value).__module__.startswith("punctuated"):
        if hasattr(value, "save") and hasattr(value, "load"):
            yield value
        for name in _fields(value):
            yield from parts_within(getattr(value, name), seen)


KINDS = [
    (PWJOIN, pa.int64(), None),
    (PWJOIN, pa.string(), None),
    (pair("HT"), pa.int64(), None),
    (pair("HT"), pa.string(), Shed(rate=5.0, tuples=20.0)),
]
each_kind = pytest.mark.parametrize(("algorithm", "key", "shed"), KINDS)


@each_kind
def test_whatever_saves_itself_is_registered(algorithm: Algorithm, key: pa.DataType, shed: Shed | None) -> None:
    driver = a_driver(algorithm, key, shed)
    registered = {id(part) for part in driver.parts.values()}
    found = [part for name, each in members(driver).items() if name != "parts" for part in parts_within(each, set())]
    assert [type(part).__name__ for part in found if id(part) not in registered and not isinstance(part, Pace)] == []
    assert len({id(part) for part in found}) >= len(registered) - 1  # that of the arrays is made for the purpose


@each_kind
def test_whatever_a_batch_changes_is_saved_or_made_anew(
    algorithm: Algorithm, key: pa.DataType, shed: Shed | None
) -> None:
    driver = a_driver(algorithm, key, shed)
    owners = {"driver": driver, "punctuations": driver.punctuations, "tactic": driver.tactic}
    driver.process(*a_batch(driver, 0), now_us=0)
    before = {owner: {name: digest(each) for name, each in members(of).items()} for owner, of in owners.items()}
    driver.process(*a_batch(driver, 1), now_us=100)
    changed = {
        f"{owner}.{name}": each
        for owner, of in owners.items()
        for name, each in members(of).items()
        if digest(each) != before[owner][name]
    }
    assert "driver.state" in changed
    registered = {id(part) for part in driver.parts.values()}  # some are made when they are first needed
    loose = {name for name, each in changed.items() if id(each) not in registered}
    assert {name.partition(".")[2].lstrip("_") for name in loose} <= IN_ARRAYS | MADE_ANEW | OWNERS
