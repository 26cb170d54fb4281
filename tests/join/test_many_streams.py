"""The driver and all that it stands on with three streams: a state, a tactic and a collector are all they need.

The join here is the plainest one: equal keys, no windows, and a value is over when all streams have ended it.
"""

import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import product
from typing import Any

import numba
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated import kernels
from punctuated.join import driver as driver_module
from punctuated.join.driver import JoinDriver
from punctuated.join.intake.keys import KeyCodec
from punctuated.join.intake.take_in import Intake
from punctuated.join.output.collector import Collector
from punctuated.join.setup import DriverSetup
from punctuated.join.shedding.coins import Shares
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.journal import Journal, restore
from punctuated.join.state.rows import RowStore
from punctuated.join.state.saved import Ints
from punctuated.join.tactics.pwjoin import PWJoin
from punctuated.kernels import by_state
from punctuated.kernels import layout as lay
from punctuated.kernels._jit import in_place, inlined, part
from punctuated.kernels.admit import breaks_promise, pass_by, turn_away
from punctuated.kernels.batch import has_room, timer_quota
from punctuated.kernels.clock import move_clock
from punctuated.kernels.clusters import open_value
from punctuated.kernels.endings import end_at_once
from punctuated.kernels.forget import ended_ts, forget_tuple, has_ended
from punctuated.kernels.hash_index import find_or_add
from punctuated.kernels.output import punctuate_output
from punctuated.kernels.packed import unpack_object
from punctuated.kernels.punctuations import process_punctuation
from punctuated.kernels.time_list import append_node
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern import WILDCARD, Pattern, Range, matches
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, StreamSpec

N = 3
KEYS = 6


class ManyState(lay.State):
    """The same arrays under another type."""

    __slots__ = ()


@by_state.n_streams.of(ManyState)
@inlined
def count_streams(state: ManyState) -> int:
    return int(state.sides.size)


@by_state.leaving_watermark.of(ManyState)
@inlined
def least_of_others(state: ManyState, side: int) -> int:
    least = lay.FOREVER
    for other in range(state.sides.size):
        if other != side:
            least = min(least, state.sides[other].watermark)
    return int(least)


@by_state.deadline_due.of(ManyState)
@inlined
def never_due(state: ManyState, side: int, time: int) -> int:
    return lay.FOREVER


@by_state.advance.of(ManyState)
@inlined
def advance_alone(state: ManyState, side: int) -> None:
    ours = state.sides[side]
    ours.watermark = max(ours.watermark, ours.newest - ours.lateness, ours.floor)


@by_state.sweep.of(ManyState)
@by_state.purge_for_ending.of(ManyState)
@by_state.purge_for_stream_end.of(ManyState)
@inlined
def keep(state: ManyState, *_: int) -> None:
    """What is not over in the output stays."""


@by_state.purge_finished.of(ManyState)
@part
def purge_all(state: ManyState, index: int) -> None:
    for side in range(state.sides.size):
        value = state.values[index]
        position = value.head[side]
        for _ in range(value.count[side]):
            node = state.nodes[position]
            forget_tuple(state, side, position, lay.NEVER)
            state.common[0].purged += 1
            node.value = lay.NONE
            position = node.next
        value.count[side] = 0


@by_state.propagate.of(ManyState)
@part
def propagate_when_all_have(state: ManyState, side: int, index: int) -> None:
    latest = lay.NEVER
    for each in range(state.sides.size):
        if not has_ended(state, each, index):
            return
        latest = max(latest, ended_ts(state, each, index))
    if state.common[0].propagates and state.values[index].flags & lay.OUT == 0:
        punctuate_output(state, index, latest, lay.BOTH)


@part
def meet_others(state: ManyState, side: int, index: int, row: int) -> None:
    """A result for each two tuples of the other sides."""
    common, value = state.common[0], state.values[index]
    one, two = (side + 1) % N, (side + 2) % N
    first = value.head[one]
    for _ in range(value.count[one]):
        second = value.head[two]
        for _ in range(value.count[two]):
            state.pairs[side, common.n_pairs] = row
            state.pairs[one, common.n_pairs] = state.nodes[first].row
            state.pairs[two, common.n_pairs] = state.nodes[second].row
            common.n_pairs += 1
            common.results += 1
            second = state.nodes[second].next
        first = state.nodes[first].next


@part
def process_tuple(state: ManyState, side: int, ts: int, index: int, status: int, row: int) -> None:
    ours = state.sides[side]
    ours.tuples += 1
    if breaks_promise(state, side, index, ts, status) and turn_away(state, side, index, ts, row):
        return
    ours.accepted += 1
    state.endings[index].last_ts[side] = max(state.endings[index].last_ts[side], ts)
    if state.values[index].flags & lay.OUT:
        pass_by(state, side, index, ts, row)
    else:
        meet_others(state, side, index, row)
        append_node(state, side, index, ts, row)
    if ours.unique:
        end_at_once(state, side, index, ts)
    if ours.clustered:
        open_value(state, side, index)


@in_place
def process_many(order: Ints, start: int, stop: int, inputs: tuple[lay.Objects, ...], state: ManyState) -> int:
    common = state.common[0]
    common.stopped_by = lay.DONE
    certain = min(stop, start + timer_quota(state))
    for at in range(start, certain):
        i, is_punctuation, side = unpack_object(order[at])
        ours = inputs[side]
        common.seq = common.first_seq + at + 1
        if not has_room(state, 1000):
            common.stopped_by = lay.NEEDS_ROOM
            return at
        if not move_clock(state, ours.punctuation_ts[i] if is_punctuation else ours.ts[i]):
            return at
        if is_punctuation:
            process_punctuation(state, side, ours.punctuation_ts[i], ours.punctuation_code[i], ours.punctuation_kind[i])
        else:
            index = find_or_add(state, ours.code[i])
            process_tuple(state, side, ours.ts[i], index, ours.status[i], state.sides[side].base_row + i)
        if common.stopped_by != lay.DONE:
            return at
    if certain < stop:
        common.stopped_by = lay.NEEDS_TIMERS
    return certain


class ManyJoinState(JoinState):
    def _state(self, fields: dict[str, Any]) -> lay.AnyState:
        return ManyState(**fields)


class ManyTactic(PWJoin):
    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[lay.Objects]) -> int:
        arrays: Any = self.state.arrays
        return int(process_many(order, at, stop, tuple(inputs), arrays))


class ManyCollector(Collector):
    schema = pa.schema([(name, pa.int64()) for name in "abc"])

    def expect(self, order: lay.Ints, intakes: Sequence[Intake], shares: Shares | None) -> None:
        """Nothing is estimated."""

    def finish(self, state: JoinState) -> None:
        """Nothing is marked."""

    def _take_pairs(self, pairs: lay.Indices) -> None:
        columns = [self._rows[side].take(rows, ["v"]).column(0) for side, rows in enumerate(pairs)]
        self.batch.results.append(pa.table(columns, schema=self.schema))

    def _take_unmatched(self, unmatched: lay.Records) -> None:
        raise AssertionError("all streams are joined alike")


@pytest.fixture(autouse=True, scope="module")
def _for_three() -> Iterator[None]:
    """Machine code for this state must not be kept: it depends on what is written here."""
    with pytest.MonkeyPatch.context() as patch:
        for module in pkgutil.walk_packages(kernels.__path__, "punctuated.kernels."):
            for _, each in inspect.getmembers(import_module(module.name), lambda member: hasattr(member, "_cache")):
                patch.setattr(each, "_cache", numba.core.caching.NullCache())

        def tactic(setup: DriverSetup, codec: KeyCodec, _: None, allow: Any, *, filtered: bool) -> ManyTactic:
            return ManyTactic(setup.spec, codec, ManyJoinState(setup.spec, allow, hash_bits=setup.hash_bits))

        def collector(setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], _: None) -> ManyCollector:
            return ManyCollector(setup, codec, rows)

        patch.setattr(driver_module, "choose_tactic", tactic)
        patch.setattr(driver_module, "choose_collector", collector)
        yield


STREAM = StreamSpec("A", ("k", "ts", "v"), ("k",), "ts", punctuated=True)


def driver_of(key: pa.DataType, **changes: Any) -> JoinDriver:
    streams = tuple(replace(STREAM, name=name, **changes) for name in "ABC")
    schema = pa.schema([("k", key), ("ts", pa.int64()), ("v", pa.int64())])
    return JoinDriver(DriverSetup(JoinSpec(streams), (schema,) * N, (key,)))


def named(key: pa.DataType, number: int) -> Any:
    return number if key == pa.int64() else f"key {number}"


Tuples = list[tuple[int, int]]  # keys and times
Said = list[tuple[int, int, int]]  # keys from, up to, and when


def batch_of(driver: JoinDriver, tuples: Tuples, first: int, said: Said) -> StreamBatch:
    schema = driver.schemas[0]
    key = schema.field("k").type
    keys, times = [named(key, k) for k, _ in tuples], [ts for _, ts in tuples]
    rows = pa.table([keys, times, list(range(first, first + len(tuples)))], schema=schema)
    one = [(named(key, low), ts) for low, high, ts in said if low == high]
    keys_ended = pa.table([pa.array([k for k, _ in one], key)], names=["k"])
    ended = EndedKeys(keys_ended, pa.chunked_array([[ts for _, ts in one]], pa.int64()), in_band=True)
    ranges = [(Range(named(key, low), named(key, high)), ts) for low, high, ts in said if low < high]
    patterns: list[tuple[tuple[Pattern, ...], int]] = [((bounds, WILDCARD, WILDCARD), ts) for bounds, ts in ranges]
    return StreamBatch(rows, (ended,), tuple(Punctuation(ts, each) for each, ts in patterns))


STEP = st.tuples(st.integers(0, KEYS - 1), st.integers(0, 3))
ENDING = st.tuples(st.integers(0, KEYS - 1), st.integers(0, 3)).map(lambda d: (d[0], min(d[0] + d[1], KEYS - 1)))
SHARE = st.tuples(st.lists(STEP, max_size=6), st.lists(ENDING, max_size=2))
CASES = st.lists(st.tuples(SHARE, SHARE, SHARE), min_size=1, max_size=5)


class Plainly:
    """The same join, slow and obvious: endings take effect at the end of their batch, when nothing else comes."""

    def __init__(self) -> None:
        self.kept: list[list[tuple[int, int]]] = [[] for _ in range(N)]  # keys and values
        self.ended = [set[int]() for _ in range(N)]
        self.out = set[int]()

    def take(self, shares: list[list[tuple[int, int]]], said: list[set[int]]) -> tuple[Counter[Any], set[int]]:
        before = [list(kept) for kept in self.kept]
        for side, share in enumerate(shares):
            self.kept[side] += [each for each in share if each[0] not in self.ended[side]]
        found = Counter(tuple(v for _, v in each) for each in product(*self.kept) if len({k for k, _ in each}) == 1)
        found -= Counter(tuple(v for _, v in each) for each in product(*before) if len({k for k, _ in each}) == 1)
        for side, keys in enumerate(said):
            self.ended[side] |= keys
        told = set.intersection(*self.ended) - self.out
        self.out |= told
        self.kept = [[each for each in kept if each[0] not in self.out] for kept in self.kept]
        return found, told


@pytest.mark.parametrize("key", [pa.int64(), pa.string()], ids=str)
@pytest.mark.parametrize("restored", [False, True])
@given(case=CASES)
def test_three_streams_are_joined(key: pa.DataType, restored: bool, case: list[Any]) -> None:
    driver, journal, entries, plainly = driver_of(key), Journal(), list[bytes](), Plainly()
    rows, before = [0] * N, set[int]()
    for number, shares in enumerate(case):
        batches, tuples, said = [], [], []
        for side, (steps, endings) in enumerate(shares):
            times = sorted(10 * number + step for _, step in steps)
            told = [(low, high, 10 * number + 9) for low, high in endings]
            came = [(k, ts) for (k, _), ts in zip(steps, times, strict=True)]
            batches.append(batch_of(driver, came, rows[side], told))
            tuples.append([(k, rows[side] + i) for i, (k, _) in enumerate(steps)])
            said.append({k for low, high in endings for k in range(low, high + 1)})
            rows[side] += len(steps)
        batch = driver.process(*batches)
        found = Counter(tuple(row.values()) for table in batch.results for row in table.to_pylist())
        results, told_keys = plainly.take(tuples, said)
        assert found == results
        over = {k for table in batch.punctuations for k in covered(key, table.to_pylist())}
        assert over - before == told_keys  # a range may cover a value that was told by its name
        before |= over
        assert driver.state.sides["live"].tolist() == [len(kept) for kept in plainly.kept]
        if restored:
            entries.append(journal.write(driver))
            driver = driver_of(key)
            journal = restore(driver, entries)
    assert driver.end().ended
    assert driver.counts()["tuples_3"] == rows[2]


def covered(key: pa.DataType, told: list[dict[str, Any]]) -> Iterator[int]:
    """The keys that punctuations of the output name."""
    for row in told:
        (pattern,) = parse_punctuation(row["pattern"], [key])
        yield from (number for number in range(KEYS) if matches(pattern, named(key, number)))


def test_clustered_and_unique_streams_end_values_by_themselves() -> None:
    for changes, wanted in (({"clustered": True}, [1, 2]), ({"unique": True}, [1, 2, 3])):
        driver = driver_of(pa.int64(), **changes)
        batch = driver.process(*(batch_of(driver, [(1, 0), (2, 5), (3, 9)], 0, []) for _ in range(N)))
        assert sorted(k for table in batch.punctuations for k in table["k"].to_pylist()) == wanted
        assert sum(map(len, batch.results)) == 3
        assert driver.counts()["purged"] == N * len(wanted)
