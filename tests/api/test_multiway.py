"""`pt.join` of more than two streams and `pt.path`, on tables."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.errors import UnboundedStateWarning
from punctuated.model.algorithm import MULTIWAY


def stream(name: str, *tuples: tuple[Any, int], **options: Any) -> pt.TableStream:
    table = pa.table({"k": [key for key, _ in tuples], "ts": pa.array([ts for _, ts in tuples], pa.int64())})
    declared: pt.TableStream = pt.stream(table, name=name, key="k", time="ts", **options)
    return declared


A, B, C = stream("A", (1, 0), (2, 30)), stream("B", (1, 5), (2, 21)), stream("C", (1, 12), (2, 12))


def times(joined: Any) -> list[tuple[int, ...]]:
    return sorted(tuple(row[f"{name}_ts"] for name in "ABC") for row in joined.results.to_pylist())


@pytest.mark.parametrize("algorithm", ["auto", *MULTIWAY])
def test_forms_of_windows(algorithm: str) -> None:
    assert times(pt.join(A, B, C, within=11, algorithm=algorithm)) == []
    assert times(pt.join(A, B, C, within=12, algorithm=algorithm)) == [(0, 5, 12)]
    assert times(pt.join(A, B, C, within=18, algorithm=algorithm)) == [(0, 5, 12), (30, 21, 12)]
    by_pairs = {("A", "B"): 9, ("C", "B"): 9}
    assert times(pt.join(A, B, C, within=by_pairs, algorithm=algorithm)) == [(0, 5, 12), (30, 21, 12)]
    assert times(pt.join(A, B, C, within={**by_pairs, ("A", "C"): 17}, algorithm=algorithm)) == [(0, 5, 12)]


@pytest.mark.parametrize("algorithm", ["auto", *MULTIWAY])
def test_paths(algorithm: str) -> None:
    assert times(pt.path(A, B, C, within=[5, 7], algorithm=algorithm)) == [(0, 5, 12)]
    assert times(pt.path(A, B, C, within=[5, 6], algorithm=algorithm)) == []
    assert times(pt.path(A, B, C, within=9, both_directions=True, algorithm=algorithm)) == [(0, 5, 12), (30, 21, 12)]


def test_windows_of_the_streams() -> None:
    a, b, c = stream("A", (1, 0), window=12), stream("B", (1, 5), window=7), stream("C", (1, 12))
    with pytest.warns(UnboundedStateWarning, match="'C': give it a window, or give the others punctuations"):
        assert times(pt.join(a, b, c)) == [(0, 5, 12)]


def test_two_streams_within() -> None:
    for algorithm in ("auto", "wjoin", "hw"):
        assert len(pt.join(A, B, within=5, algorithm=algorithm).results) == 1
        assert len(pt.join(A, B, within=9, algorithm=algorithm).results) == 2
    assert len(pt.path(A, B, within=9).results) == 1


def test_columns_are_named_after_their_streams() -> None:
    joined = pt.join(A, B, C, within=20)
    assert joined.schema.names == ["k", "A_ts", "B_ts", "C_ts"]
    assert pt.join(A, B, C, within=20, select=["C_ts"]).results.column_names == ["k", "C_ts"]
    with pytest.warns(pt.LateGroupsWarning, match="when all streams have ended"):
        assert joined.group_by("k").agg(n=pt.count()).to_pydict() == {"k": [1, 2], "n": [1, 1]}


@pytest.mark.parametrize("algorithm", ["auto", *MULTIWAY])
def test_columns_of_two_streams_are_called_the_same_by_every_algorithm(algorithm: str) -> None:
    a, b = stream("A", (1, 0), window=9), stream("B", (1, 5), window=9)
    joined = pt.join(a, b, algorithm=algorithm)
    assert joined.results.to_pylist() == [{"k": 1, "ts_left": 0, "ts_right": 5}]
    chosen = pt.join(a, b, algorithm=algorithm, select=["ts_right"])
    assert chosen.results.column_names == ["k", "ts_right"]


def test_the_plan_is_told() -> None:
    plan = pt.path(A, B, C, within="5 seconds", both_directions=True, algorithm="mw").explain()
    assert "inner join of A, B and C on k\n" in plan
    assert "algorithm: mw, partners by a scan of the tuples in time" in plan
    assert "order: for each tuple, streams with the fewest candidates first" in plan
    assert "along A then B then C, or back" in plan
    assert "waits for: B up to 5 s later, C up to 10 s later; lateness 0 s" in plan
    assert "state: bounded by its reach as the others go on; at most about" in plan


def test_values_that_end_leave_nothing() -> None:
    """The state of four streams is bounded by the values that are open, however long they run."""
    peaks = []
    for n in (50, 500):
        streams = [stream(name, *((i // 2, i) for i in range(n)), punctuations=pt.clustered()) for name in "ABCD"]
        joined = pt.join(*streams)
        assert len(joined.results) == 16 * (n // 2)
        peaks.append(max(sum(row[f"state_{i}"] for i in range(1, 5)) for row in joined.metrics.to_pylist()))
    assert peaks[1] <= peaks[0] + 8


TEXTS = stream("C", ("x", 1))
NAMELESS = stream("", (1, 1))
NO_DURATION: Any = [1, 2]
NOTHING: Any = None
HALF: Any = 1.5
NO_WORD: Any = "no"
NO_PAIR: Any = {"AB": 1}
NO_STEPS: Any = {("A", "B"): 1}
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: pt.join(A, within=1), "two streams or more; 1 was given"),
    (lambda: pt.join(within=1), "two streams or more; none was given"),
    (lambda: pt.join(*[A] * 9, within=1), "up to 8 streams, not 9"),
    (lambda: pt.join(A, B, C, within={("A", "B"): 1, ("B", "A"): 2}), "the pair 'B', 'A' twice"),
    (lambda: pt.join(A, B, C, within={("A", "B"): 1, ("B", "D"): 2}), "names the stream 'D'"),
    (lambda: pt.join(A, B, C, within={("A", "A"): 1}), "pairs the stream 'A' with itself"),
    (lambda: pt.join(A, B, C, within=NO_PAIR), "write the names of two streams"),
    (lambda: pt.join(A, B, C, within={("A", "B"): 1}), "{A, B} and {C} without a window between them"),
    (lambda: pt.join(A, B, C, within=NO_DURATION), "one duration for all, or a duration for each pair"),
    (lambda: pt.join(A, B, C, within=-1), "cannot be negative"),
    (lambda: pt.path(A, B, A, within=1), "named 'A'; give them different names"),
    (lambda: pt.path(A, B, C, within=[1]), "has 2 steps, but within= gives 1 windows"),
    (lambda: pt.path(A, B, C, within=NO_STEPS), "a path takes one duration for all steps"),
    (lambda: pt.path(A, B, C, within=NOTHING), "a path needs within="),
    (lambda: pt.path(A, B, within=NOTHING), "a path needs within="),
    (lambda: pt.path(A, B, C, within=HALF), "1.5 is not a duration"),
    (lambda: pt.path(A, B, C, within=1, both_directions=NO_WORD), "both_directions='no': give True or False"),
    (lambda: pt.join(A, B, TEXTS, within=1), "key 'k' is of type int64 in A and B and string in C"),
    (lambda: pt.join(A, B, stream("C", (1, 1), window=3), within=1), "has a window of its own"),
    (lambda: pt.join(A, B, stream("C", (1, 1), window=pt.rows(3))), "takes windows of a length"),
    (lambda: pt.join(A, B, C, within=1, how="left"), "how='left': a join of more than two streams"),
    (lambda: pt.join(A, B, C, within=1, algorithm="HH"), "has a structure for each of two windows"),
    (lambda: pt.join(A, B, C, within=1, purge_threshold=2), "purge_threshold is for joins of two"),
    (lambda: pt.join(A, B, C, within=1, where=pt.left("ts") < pt.right("ts")), "none is the left or the right one"),
    (lambda: pt.join(A, B, NAMELESS, within=1), "give each pt.stream name="),
]


@pytest.mark.parametrize(("mistake", "message"), BAD, ids=[message for _, message in BAD])
def test_mistakes_are_told_when_the_join_is_built(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(pt.PunctuatedError, match=message.replace("{", r"\{")):
        mistake()


@pytest.mark.parametrize(("one", "two"), list(product(["hw", "nlw", "mw"], repeat=2)))
def test_algorithms_give_the_same(one: str, two: str) -> None:
    steps = {"A": 2, "B": 3, "C": 4}
    streams = [stream(name, *((i * 7 % 5, i * step) for i in range(60))) for name, step in steps.items()]
    found, wanted = (times(pt.join(*streams, within=15, algorithm=each)) for each in (one, two))
    assert found == wanted
    assert found
