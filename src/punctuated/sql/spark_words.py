"""What Spark says when something fails, in a line: its messages come with stack traces, and with what wraps them."""

import re

_OURS = re.compile(r"punctuated\.errors\.\w+: (.+)")
_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_.]+\] .+")  # how Spark's own messages begin


def in_a_line(failure: object) -> str:
    r"""Our own words if there are any, else Spark's message, else the first line.

    >>> in_a_line("An error occurred while calling o1.load.\n: x.Y: [DATA_SOURCE_NOT_FOUND] No such format.\n\tat z")
    '[DATA_SOURCE_NOT_FOUND] No such format.'
    """
    text = str(failure).strip()
    ours, theirs = _OURS.findall(text), _CONDITION.search(text)
    if ours:
        return str(ours[-1])
    return theirs[0] if theirs is not None else (text.splitlines() or [""])[0]
