"""What a join may keep in memory: a number of tuples, or of bytes. Tuples beyond that go to disk."""

from dataclasses import dataclass

from punctuated.errors import AlgorithmError
from punctuated.model.given import LARGEST, is_whole
from punctuated.model.size import parse_size, show_size

_LEAST_BYTES = 1 << 16  # less than an empty join takes


@dataclass(frozen=True, slots=True)
class Memory:
    """A number of tuples of all streams together, or of bytes; one of them is None."""

    tuples: int | None = None
    nbytes: int | None = None

    def share(self, n: int) -> "Memory":
        """The share of one of `n` buckets.

        >>> Memory(tuples=10).share(4), Memory(nbytes=1 << 20).share(4)
        (Memory(tuples=2, nbytes=None), Memory(tuples=None, nbytes=262144))
        """
        divided = (None if each is None else max(1, each // n) for each in (self.tuples, self.nbytes))
        return Memory(*divided)

    def allow(self, n: int, at_once: int | None = None) -> "Allowance":
        """What one of `n` buckets may hold; if some rest while others are processed, each kind has one half.

        >>> allowed = Memory(tuples=800).allow(8, at_once=2)
        >>> print(allowed.working, "|", allowed.resting)
        200 tuples | 50 tuples
        """
        if at_once is None or at_once >= n:
            return Allowance(self.share(n), self.share(n))
        return Allowance(self.share(2 * at_once), self.share(2 * n))

    def __str__(self) -> str:
        """For people.

        >>> print(Memory(tuples=10_000), "|", Memory(nbytes=64 << 20))
        10,000 tuples | 64.0 MiB
        """
        return show_size(self.nbytes) if self.nbytes is not None else f"{self.tuples:,} tuples"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a bucket may hold while it is processed, and between its batches."""

    working: Memory
    resting: Memory


def parse_memory(given: int | str) -> Memory:
    """A number of tuples, or a text such as "64 MiB".

    >>> parse_memory(1000), parse_memory("1 MiB")
    (Memory(tuples=1000, nbytes=None), Memory(tuples=None, nbytes=1048576))
    """
    if is_whole(given):
        if not 1 <= int(given) <= LARGEST:
            raise AlgorithmError(f"memory={given!r}: give one tuple or more")
        return Memory(tuples=int(given))
    if not isinstance(given, str):
        raise AlgorithmError(f"memory={given!r}: give a number of tuples, or a text such as '64 MiB'")
    nbytes = parse_size(given, "memory")
    if nbytes < _LEAST_BYTES:
        raise AlgorithmError(f"memory={given!r}: give at least {show_size(_LEAST_BYTES)}, or a number of tuples")
    return Memory(nbytes=nbytes)
