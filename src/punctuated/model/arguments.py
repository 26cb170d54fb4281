"""Checks of users' arguments, hints for misspelt names, and names for our columns beside users' own.

Numbers of any library become plain numbers.
"""

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from punctuated.errors import PunctuatedError

LARGEST = 2**60  # the largest number that is accepted: counts and times can be added to it without overflow
HIDDEN = "\0"  # how names of columns begin that nobody sees


def whole_number(value: Any, name: str, error: type[PunctuatedError], *, least: int, most: int = LARGEST) -> int:
    """The value as a plain integer, if it is one within bounds; raises if not.

    >>> import numpy as np
    >>> whole_number(np.int8(3), "n", PunctuatedError, least=1)
    3
    """
    if not is_whole(value) or not least <= value <= most:
        bounds = f"of {least} or more" if most == LARGEST else f"from {least} to {most:,}"
        raise error(f"{name}={value!r}: give a whole number {bounds}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether this is an integer of any library; booleans are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def text(value: Any, name: str, error: type[PunctuatedError], what: str = "the name of a column") -> str:
    """The value, if it is a text; raises if not."""
    if not isinstance(value, str):
        raise error(f"{name}={value!r}: give {what} as text")
    return str(value)


def column_names(value: Any, name: str, error: type[PunctuatedError]) -> tuple[str, ...]:
    """The names of columns, given as one name or as several; raises if it is neither.

    >>> column_names("k", "key", PunctuatedError), column_names(["k", "l"], "key", PunctuatedError)
    (('k',), ('k', 'l'))
    """
    if isinstance(value, str):
        return (str(value),)
    try:
        names = tuple(value)
    except TypeError:  # not even what says that it is iterable has to be: Spark's columns are not
        names = (value,)
    if not all(isinstance(each, str) for each in names):
        raise error(f"{name}={value!r}: give the name of a column, or a list of names")
    return tuple(map(str, names))


def duplicates(names: Iterable[str]) -> list[str]:
    """The names that come more than once, in order.

    >>> duplicates(["k", "ts", "k"]), duplicates(["k"])
    (['k'], [])
    """
    return sorted(name for name, n in Counter(names).items() if n > 1)


# Misspelt names


def closest_name(name: object, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, upper and lower case aside.

    >>> closest_name("pice", ["item", "Price"]), closest_name(5, ["item"])
    ('Price', None)
    """
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(str(name).lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None


def hint_of(name: object, known: Iterable[str], listed_as: str) -> str:
    """What to write instead of an unknown name: the nearest one, or all that there are.

    >>> hint_of("pice", ["item", "price"], "it has"), hint_of("x", ["item", "price"], "it has")
    ("did you mean 'price'?", 'it has: item, price')
    """
    names = list(known)
    closest = closest_name(name, names)
    return f"did you mean {closest!r}?" if closest else f"{listed_as}: {', '.join(names)}"


# Names for our columns among those of users, who may use any name
#
# There are two rules, and nothing else may depend on a user's names. A column that users see has its documented name;
# if that is taken, underscores are added at its end. A name that differs only in case is taken, too, since Spark
# treats both as one. A column that nobody sees has a name that begins with `HIDDEN`, which no user's name may
# contain.


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """The wanted names, with underscores at their ends where they are taken.

    >>> free_names(["ts", "reason"], ["Reason", "reason_", "ts "])
    ('ts', 'reason__')
    """
    known, found = {name.casefold() for name in taken}, []
    for name in wanted:
        while name.casefold() in known:
            name += "_"
        known.add(name.casefold())
        found.append(name)
    return tuple(found)
