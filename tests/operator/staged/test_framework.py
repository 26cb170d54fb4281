"""The event-driven framework (PJ-13): who listens, in which order, under which conditions, and while the join runs."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from driver_harness import new_driver
from punctuated.errors import AlgorithmError
from punctuated.model.algorithm import STAGED_XJOIN, choose_algorithm
from punctuated.model.batch import Row
from punctuated.model.memory import Memory
from punctuated.model.pattern import WILDCARD, Constant
from punctuated.model.policy import Event, Policy
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.operator.staged.join import StagedJoin
from punctuated.testing.tables import as_batch

COLUMNS = ("k", "ts", "v", "f")
STREAMS = tuple(StreamSpec(name, COLUMNS, ("k",), "ts", punctuated=True) for name in "AB")
SPEC = JoinSpec(STREAMS, algorithm=choose_algorithm("pjoin", "own-state"), memory=Memory(tuples=3), policy=Policy())


def started(policy: Policy, spec: JoinSpec = SPEC) -> tuple[Any, StagedJoin]:
    driver = new_driver(replace(spec, policy=policy))
    assert isinstance(driver.spill, StagedJoin)
    return driver, driver.spill


def bring(driver: Any, left: list[Any], right: list[Any]) -> Any:
    return driver.process(*(as_batch(stream, each) for stream, each in zip(STREAMS, (left, right), strict=True)))


def rows(*keys: int, ts: int = 0) -> list[Row]:
    return [Row((key, ts, n, False)) for n, key in enumerate(keys)]


def over(key: int, ts: int) -> Punctuation:
    return Punctuation(ts, (Constant(key), WILDCARD, WILDCARD, WILDCARD))


def test_tasks_listen_as_the_paper_has_it() -> None:
    _, join = started(Policy())
    index_and_propagation = ["index build", "propagation"]
    assert {event: join.registry.names(event) for event in Event} == {
        Event.PUNCTUATIONS_ARRIVED: [],
        Event.PURGE_THRESHOLD_REACHED: ["state purge"],
        Event.STATE_FULL: ["state purge", "state relocation"],
        Event.STREAM_EMPTY: ["disk join"],
        Event.DISK_JOIN_ACTIVATED: ["disk join"],
        Event.PROPAGATION_REQUESTED: index_and_propagation,
        Event.PROPAGATION_TIME_EXPIRED: index_and_propagation,
        Event.PROPAGATION_COUNT_REACHED: index_and_propagation,
    }
    assert started(Policy(index="eager"))[1].registry.names(Event.PUNCTUATIONS_ARRIVED) == ["index build"]


def test_xjoin_listens_to_no_punctuation() -> None:
    _, join = started(Policy(), replace(SPEC, algorithm=STAGED_XJOIN))
    assert join.registry.names(Event.STATE_FULL) == ["state relocation"]
    assert join.registry.names(Event.PURGE_THRESHOLD_REACHED) == []


def test_own_listeners_stand_where_they_are_put_and_are_asked_first() -> None:
    heard: list[tuple[str, tuple[int, ...]]] = []

    def first(join: StagedJoin) -> None:
        heard.append(("first", join.monitor.in_memory))

    def last(join: StagedJoin) -> None:
        heard.append(("last", join.monitor.in_memory))

    def never(join: StagedJoin) -> None:
        raise AssertionError("its condition does not hold")

    policy = (
        Policy()
        .on(Event.STATE_FULL, last)
        .on(Event.STATE_FULL, first, before="state relocation")
        .on(Event.STATE_FULL, never, after="state purge", when=lambda join: sum(join.monitor.on_disk) < 0)
    )
    driver, join = started(policy)
    assert join.registry.names(Event.STATE_FULL) == ["state purge", "never", "first", "state relocation", "last"]
    bring(driver, rows(1, 2), rows(3))
    assert [name for name, _ in heard] == ["first", "last"]
    assert sum(heard[0][1]) == 3 and sum(heard[1][1]) < 3


def test_a_listener_may_change_who_listens_while_the_join_runs() -> None:
    heard: list[str] = []

    def learn(join: StagedJoin) -> None:
        heard.append("learn")
        join.registry.off(Event.STREAM_EMPTY, "learn")
        join.registry.on(Event.STREAM_EMPTY, "known", lambda _: heard.append("known"), before="disk join")

    driver, join = started(Policy().on(Event.STREAM_EMPTY, learn))
    for _ in range(3):
        bring(driver, [], [])
    assert heard == ["learn", "known", "known"]
    assert join.registry.names(Event.STREAM_EMPTY) == ["known", "disk join"]


@pytest.mark.parametrize(("purge", "threshold", "left"), [("eager", None, 0), ("lazy", 2, 0), ("lazy", 3, 2)])
def test_purges_wait_for_their_threshold(purge: str, threshold: int | None, left: int) -> None:
    policy = Policy(purge=purge, purge_threshold=threshold)
    driver, join = started(policy, replace(SPEC, memory=Memory(tuples=100)))
    bring(driver, rows(1, 2), [over(1, 1), over(2, 1)])
    assert join.monitor.in_memory == (left, 0)
    assert join.monitor.since_purge == (2 if left else 0)


def said(batch: Any) -> list[int]:
    return [key for told in batch.punctuations for key in told.keys[0].to_pylist()]


def test_propagation_is_pushed_by_count_and_by_time_or_pulled() -> None:
    by_count, _ = started(Policy(propagate_every=2))
    assert said(bring(by_count, [over(1, 1)], [])) == []
    assert said(bring(by_count, [over(2, 2)], [])) == [1, 2]
    by_time, _ = started(Policy(propagate_after=5))
    assert said(bring(by_time, [over(1, 1)], [])) == []
    assert said(bring(by_time, rows(9, ts=6), [])) == [1]
    pulled, join = started(Policy(propagate="pull"))
    assert said(bring(pulled, [over(1, 1)], [])) == []
    join.request_propagation()
    assert said(bring(pulled, [], [])) == [1]
    assert said(bring(pulled, [over(2, 3)], [])) == []


def test_a_silence_in_event_time_joins_what_is_on_disk() -> None:
    """A's tuple is on disk when B's comes: the pair comes out in the silence before the last tuple, not at the end."""
    driver, _ = started(Policy(disk_join_after=10), replace(SPEC, memory=Memory(tuples=1)))
    one = bring(driver, rows(1), rows(1, ts=3))
    assert not one.results
    two = bring(driver, rows(2, ts=20), rows(3, ts=40))
    assert [len(table) for table in two.results] == [1]


def test_tuples_that_must_meet_the_disk_wait_in_the_purge_buffer() -> None:
    driver, join = started(Policy(purge="eager"), replace(SPEC, memory=Memory(tuples=2)))
    bring(driver, rows(1, 1), [])  # full: A's tuples go to disk
    assert join.monitor.in_memory == (0, 0)
    bring(driver, [over(1, 1)], rows(1, ts=2))  # covered by A, but two tuples of A are on disk
    assert join.monitor.in_memory == (0, 1)
    silent = bring(driver, [], [])
    assert sum(map(len, silent.results)) == 2 and join.monitor.in_memory == (0, 0)


def test_bad_policies_say_what_to_give() -> None:
    for bad, message in (
        ({"purge": "now"}, "purge='now': give one of 'eager', 'lazy'"),
        ({"purge_threshold": 0}, "purge_threshold=0: give a whole number of 1 or more"),
        ({"purge": "eager", "purge_threshold": 5}, "waits for none"),
        ({"propagate": "pull", "propagate_every": 3}, "waits to be asked"),
        ({"disk_join_after": 0}, "longer than zero"),
        ({"relocate": "any"}, "'largest', 'smallest'"),
    ):
        with pytest.raises(AlgorithmError, match=message):
            Policy(**bad)
    with pytest.raises(AlgorithmError, match="give an event"):
        Policy().on("full", print)  # type: ignore[arg-type]
    with pytest.raises(AlgorithmError, match="no listener 'disk join' of the event 'state full'"):
        started(Policy().on(Event.STATE_FULL, print, before="disk join"))


def table(**columns: list[Any]) -> pa.Table:
    return pa.table(columns)


def test_what_cannot_go_in_stages_is_refused_when_the_query_is_built() -> None:
    a = pt.stream(table(k=[1], ts=[0]), name="A", key="k", time="ts")
    b = pt.stream(table(k=[1], at=[1]), name="B", key="k", time="at")
    windowed = pt.stream(table(k=[1], at=[1]), name="B", key="k", time="at", window=5)
    lenient = pt.stream(table(k=[1], at=[1]), name="B", key="k", time="at", on_violation="accept")
    for streams, options, message in (
        ((a, b), {"algorithm": "pwjoin", "policy": Policy()}, "policy= is for algorithm='pjoin'"),
        ((a, b), {"algorithm": "xjoin", "policy": 3}, r"give pt.Policy\(…\)"),
        ((a, b), {"algorithm": "xjoin", "how": "left"}, "is always an inner join"),
        ((a, b), {"algorithm": "xjoin", "propagation": "regular"}, "does not know punctuations"),
        ((a, windowed), {"algorithm": "pjoin", "policy": Policy()}, "use 'pwjoin', which has both"),
        ((a, lenient), {"algorithm": "pjoin", "memory": 10}, "use 'reject' or 'fail'"),
        ((a, b), {"algorithm": "pjoin", "memory": 10, "purge_threshold": 3}, "by policy="),
        ((a, b), {"algorithm": "pjoin", "memory": 0}, "give one tuple or more"),
    ):
        with pytest.raises(AlgorithmError, match=message):
            pt.join(*streams, **options)
