"""What a join may keep in memory, as a number of tuples or of bytes; tuples beyond that go to disk."""

import re
from dataclasses import dataclass
from fractions import Fraction

from punctuated.errors import AlgorithmError
from punctuated.model.arguments import LARGEST, is_whole

_LEAST_BYTES = 1 << 16  # less than an empty join takes
_UNITS = {"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_TEXT = re.compile(r"\s*+([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*+([a-zA-Z]++)\s*+")


@dataclass(frozen=True, slots=True)
class Memory:
    """A number of tuples of all streams together, or of bytes; one of them is None."""

    tuples: int | None = None
    nbytes: int | None = None

    def share(self, n: int) -> "Memory":
        """What one of `n` buckets gets of this memory.

        >>> Memory(tuples=10).share(4), Memory(nbytes=1 << 20).share(4)
        (Memory(tuples=2, nbytes=None), Memory(tuples=None, nbytes=262144))
        """
        divided = (None if each is None else max(1, each // n) for each in (self.tuples, self.nbytes))
        return Memory(*divided)

    def allow(self, n: int, at_once: int | None = None) -> "Allowance":
        """What one of `n` buckets may hold. While some rest, one half is for those that are processed.

        >>> allowed = Memory(tuples=800).allow(8, at_once=2)
        >>> print(allowed.working, "|", allowed.resting)
        200 tuples | 50 tuples
        """
        if at_once is None or at_once >= n:
            return Allowance(self.share(n), self.share(n))
        return Allowance(self.share(2 * at_once), self.share(2 * n))

    def __str__(self) -> str:
        """The number and its unit.

        >>> print(Memory(tuples=10_000), "|", Memory(nbytes=64 << 20))
        10,000 tuples | 64.0 MiB
        """
        return show_size(self.nbytes) if self.nbytes is not None else f"{self.tuples:,} tuples"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a bucket may hold while it is processed, and between its batches."""

    working: Memory
    resting: Memory


def parse_memory(value: int | str) -> Memory:
    """A number of tuples, or a text such as "64 MiB".

    >>> parse_memory(1000), parse_memory("1 MiB")
    (Memory(tuples=1000, nbytes=None), Memory(tuples=None, nbytes=1048576))
    """
    if is_whole(value):
        if not 1 <= int(value) <= LARGEST:
            raise AlgorithmError(f"memory={value!r}: give one tuple or more")
        return Memory(tuples=int(value))
    if not isinstance(value, str):
        raise AlgorithmError(f"memory={value!r}: give a number of tuples, or a text such as '64 MiB'")
    nbytes = parse_size(value, "memory")
    if nbytes < _LEAST_BYTES:
        raise AlgorithmError(f"memory={value!r}: give at least {show_size(_LEAST_BYTES)}, or a number of tuples")
    return Memory(nbytes=nbytes)


# Sizes in bytes


def parse_size(value: int | str, name: str) -> int:
    """Bytes of a size, which is a number or a text such as "512 MiB"; errors name the argument `name`."""
    size = int(value) if is_whole(value) else _read(value, name)
    if size < 1:
        raise AlgorithmError(f"{name}={value!r}: give at least one byte")
    return min(size, LARGEST)


def _read(value: object, name: str) -> int:
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2].lower() not in _UNITS:
        raise AlgorithmError(f"{name}={value!r}: give bytes, or a text such as '512 MiB' or '2 GiB'")
    return min(int(Fraction(found[1]) * _UNITS[found[2].lower()]), LARGEST)


def show_size(size: int) -> str:
    """The text of a size, such as "64.0 MiB"."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
