"""How much a join may hold in memory: tuples of all sides together, or bytes."""

from dataclasses import dataclass

from punctuated.errors import AlgorithmError
from punctuated.model.given import LARGEST, is_whole
from punctuated.model.size import parse_size


@dataclass(frozen=True, slots=True)
class Memory:
    """A limit; one of both is given."""

    tuples: int | None = None
    nbytes: int | None = None


def parse_memory(given: int | str) -> Memory:
    """A number is tuples, a text is bytes.

    >>> parse_memory(1000), parse_memory("64 MiB")
    (Memory(tuples=1000, nbytes=None), Memory(tuples=None, nbytes=67108864))
    """
    if not is_whole(given):
        return Memory(nbytes=parse_size(given, "memory"))
    if not 1 <= int(given) <= LARGEST:
        raise AlgorithmError(f"memory={given!r}: give one tuple or more, or a text such as '64 MiB'")
    return Memory(tuples=int(given))
