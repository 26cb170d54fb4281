"""Which part of a join's keys a driver holds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BucketPlace:
    """The bucket `number` of `n`. What is the same in all buckets comes out of the first one only.

    `at_once` of them are processed at a time while the others rest; `None` means all.
    """

    number: int = 0
    n: int = 1
    at_once: int | None = None

    @property
    def speaks_for_all(self) -> bool:
        return self.number == 0

    def __str__(self) -> str:
        return f"bucket {self.number} of {self.n}" if self.n > 1 else "the join"
