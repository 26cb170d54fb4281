"""What a worker has loaded is set aside from Python's garbage collector, unless buckets would be, too."""

from collections.abc import Callable
from functools import partial

import pytest

from punctuated.runtime.kernel_groups import Kernels
from punctuated.spark.state import cache as loaded
from punctuated.spark.state.cache import WorkerCache
from spark.state.test_cache import sized

NEEDED = (Kernels.EXCHANGE,)


class Worker:
    """Notes what is asked of it; stands for Python's collector, for Spark's tasks, and for what loads kernels."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, has_task: bool = True) -> None:
        self.asked: list[str] = []
        self.cache, self._has_task = WorkerCache(), has_task
        self.load: Callable[[], None] = partial(
            loaded.prepare_worker.__wrapped__, NEEDED
        )  # not remembered from other tests
        for name, stand_in in {"gc": self, "TaskContext": self, "CACHE": self.cache}.items():
            monkeypatch.setattr(loaded, name, stand_in)
        monkeypatch.setattr(loaded, "compile_all", lambda _: self.asked.append("compile"))
        monkeypatch.setattr(loaded, "load_kernels", lambda kernels: self.asked.append(kernels.name))

    def get(self) -> "Worker | None":
        return self if self._has_task else None

    def collect(self) -> None:
        self.asked.append("collect")

    def freeze(self) -> None:
        self.asked.append("freeze")


def test_a_task_sets_aside_what_it_has_loaded_and_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(monkeypatch)
    worker.load()
    assert worker.asked == ["compile", "EXCHANGE", "collect", "freeze"]


def test_buckets_are_not_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(monkeypatch)
    worker.cache.put(("query", 0), "token", sized(1))
    worker.load()
    assert worker.asked == ["compile", "EXCHANGE"]


def test_the_collector_of_other_processes_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(monkeypatch, has_task=False)
    worker.load()
    assert worker.asked == ["compile"]
