"""The known name that a misspelt one probably means, and the hint that an error gives."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest_of(name: object, known: Iterable[str]) -> str | None:
    """The known name that is most like this one, upper and lower case aside.

    >>> nearest_of("pice", ["item", "Price"]), nearest_of(5, ["item"])
    ('Price', None)
    """
    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(str(name).lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


def hint_of(name: object, known: Iterable[str], listed_as: str) -> str:
    """What to write instead of an unknown name: the nearest one, or all that there are.

    >>> hint_of("pice", ["item", "price"], "it has"), hint_of("x", ["item", "price"], "it has")
    ("did you mean 'price'?", 'it has: item, price')
    """
    names = list(known)
    near = nearest_of(name, names)
    return f"did you mean {near!r}?" if near else f"{listed_as}: {', '.join(names)}"
