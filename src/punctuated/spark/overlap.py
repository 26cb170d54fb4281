"""Reading, joining and writing at the same time, in tasks that have several cores."""

from collections.abc import Iterator
from typing import TypeVar

from pyspark import TaskContext

from punctuated.bind.ahead import side_by_side

T = TypeVar("T")


def overlapped(items: Iterator[T]) -> Iterator[T]:
    """The same items; with more than one core (`spark.task.cpus`) a few are made before they are asked for."""
    context = TaskContext.get()
    return items if context is None or context.cpus() < 2 else side_by_side([items])
