"""Names for our columns among those of users, who may use any name.

There are two rules, and nothing else may depend on a user's names. A column that users see has its documented name; if
that is taken, underscores are added at its end. A name that differs only in case is taken, too, since Spark treats both
as one. A column that nobody sees has a name that begins with `HIDDEN`, which no user's name may contain.
"""

from collections.abc import Iterable

HIDDEN = "\0"


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """These names, with underscores at their end if they are taken.

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
