"""Names for columns of ours among those of users, of which none is taken away.

Two rules, and nothing else may depend on a user's names. A column of ours that users see has its documented name, or if
that is taken the same with underscores behind it; a name that differs in case alone is taken, too, since Spark takes
both for one. A column that nobody sees has a name that begins with `HIDDEN`, which no user's name may contain.
"""

from collections.abc import Iterable

HIDDEN = "\0"


def free_names(wanted: Iterable[str], taken: Iterable[str]) -> tuple[str, ...]:
    """These names, with underscores behind them where they are taken.

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
