"""Checks of arguments: whether they have the right type. Numbers of any library become plain numbers."""

from collections import Counter
from collections.abc import Iterable
from numbers import Integral
from typing import Any

from punctuated.errors import PunctuatedError

LARGEST = 2**60  # the largest number that may be given: counts and times can be added to it without overflow


def whole_number(given: Any, name: str, error: type[PunctuatedError], *, least: int, most: int = LARGEST) -> int:
    """An integer within bounds.

    >>> import numpy as np
    >>> whole_number(np.int8(3), "n", PunctuatedError, least=1)
    3
    """
    if not is_whole(given) or not least <= given <= most:
        bounds = f"of {least} or more" if most == LARGEST else f"from {least} to {most:,}"
        raise error(f"{name}={given!r}: give a whole number {bounds}")
    return int(given)


def is_whole(given: Any) -> bool:
    """Whether this is an integer of any library; booleans are not."""
    return isinstance(given, Integral) and not isinstance(given, bool)


def text(given: Any, name: str, error: type[PunctuatedError], what: str = "the name of a column") -> str:
    """A string."""
    if not isinstance(given, str):
        raise error(f"{name}={given!r}: give {what} as text")
    return str(given)


def column_names(given: Any, name: str, error: type[PunctuatedError]) -> tuple[str, ...]:
    """One name of a column, or several.

    >>> column_names("k", "key", PunctuatedError), column_names(["k", "l"], "key", PunctuatedError)
    (('k',), ('k', 'l'))
    """
    if isinstance(given, str):
        return (str(given),)
    try:
        names = tuple(given)
    except TypeError:  # not even what says that it is iterable has to be: Spark's columns are not
        names = (given,)
    if not all(isinstance(each, str) for each in names):
        raise error(f"{name}={given!r}: give the name of a column, or a list of names")
    return tuple(map(str, names))


def given_twice(names: Iterable[str]) -> list[str]:
    """The names that come more than once, in order.

    >>> given_twice(["k", "ts", "k"]), given_twice(["k"])
    (['k'], [])
    """
    return sorted(name for name, n in Counter(names).items() if n > 1)
