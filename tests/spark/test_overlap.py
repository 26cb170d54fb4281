"""Tasks with several cores make a few items ahead, and give the same."""

import threading
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings

from punctuated.spark.session import workers as overlap
from punctuated.spark.session.workers import overlapped
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Output, Steps, is_spreadable, pack_batch
from spark.test_step import check_steps


class Cores:
    """A task that has some."""

    def __init__(self, n: int) -> None:
        self._n = n

    def get(self) -> "Cores":
        return self

    def cpus(self) -> int:
        return self._n


@pytest.mark.parametrize(("cores", "ahead"), [(1, False), (2, True)])
def test_items_come_in_order_and_are_made_ahead_where_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, ahead: bool
) -> None:
    monkeypatch.setattr(overlap, "TaskContext", Cores(cores))
    makers = set()

    def items() -> Iterator[int]:
        for number in range(9):
            makers.add(threading.get_ident())
            yield number

    assert list(overlapped(items())) == [*range(9)]
    assert (makers == {threading.get_ident()}) is not ahead


def test_what_goes_wrong_ahead_is_raised_where_items_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "TaskContext", Cores(2))

    def items() -> Iterator[int]:
        yield 1
        raise OSError("no more")

    taken = overlapped(items())
    assert next(taken) == 1
    with pytest.raises(OSError, match="no more"):
        next(taken)


@settings(max_examples=settings().max_examples // 4)
@given(case=cases().filter(is_spreadable))
def test_steps_that_join_ahead_equal_the_oracle(case: Case) -> None:
    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        return steps.run(pack_batch(steps.query, batch, random))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(overlap, "TaskContext", Cores(2))
        check_steps(case, 2, Random(0), run)
