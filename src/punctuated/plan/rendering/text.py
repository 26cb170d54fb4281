"""A plan as text: a tree of lines, none wider than a wide terminal."""

from collections.abc import Iterator
from textwrap import wrap

from punctuated.plan.tree import PlanNode

WIDTH = 120
_LEAST = 40  # that lines of a very deep tree still get


def as_text(plan: PlanNode) -> str:
    """The tree, inputs below what is done to them.

    >>> from punctuated.plan.tree import Fact, Kind
    >>> stream = PlanNode(Kind.STREAM, "A: left stream", (Fact("window", "12 h"),))
    >>> print(as_text(PlanNode(Kind.JOIN, "inner join", (Fact("algorithm", "pwjoin"),), (stream,))))
    inner join
    │  algorithm: pwjoin
    └─ A: left stream
         window: 12 h
    """
    return "\n".join(line.rstrip() for line in _lines(plan, "", ""))


def _lines(node: PlanNode, branch: str, below: str) -> Iterator[str]:
    """Of a node whose title stands behind `branch`, and whatever is under it behind `below`."""
    yield from _wrapped(node.title, branch, f"{below}  ")
    bar = f"{below}│  " if node.children else f"{below}  "
    for fact in node.facts:
        yield from _wrapped(str(fact), bar, f"{bar}  ")
    for i, child in enumerate(node.children):
        is_last = i == len(node.children) - 1
        yield from _lines(child, f"{below}{'└─ ' if is_last else '├─ '}", f"{below}{'   ' if is_last else '│  '}")


def _wrapped(text: str, first: str, others: str) -> list[str]:
    width = max(WIDTH, len(others) + _LEAST)
    return wrap(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
