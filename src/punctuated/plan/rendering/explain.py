"""A plan as text, as JSON or as a picture: `explain` picks the format.

Text lines are no wider than a wide terminal, except in very deep trees.
"""

import json
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import Any

from punctuated.errors import ExplainError
from punctuated.plan.rendering.picture import as_svg
from punctuated.plan.tree import PlanNode

WIDTH = 120
_LEAST_WIDTH = 40  # of the lines of a very deep tree


# Text


def as_text(plan: PlanNode) -> str:
    """The plan as a tree of lines; inputs stand below what is done to them.

    >>> from punctuated.plan.tree import Fact, NodeKind
    >>> stream = PlanNode(NodeKind.STREAM, "A: left stream", (Fact("window", "12 h"),))
    >>> print(as_text(PlanNode(NodeKind.JOIN, "inner join", (Fact("algorithm", "pwjoin"),), (stream,))))
    inner join
    │  algorithm: pwjoin
    └─ A: left stream
         window: 12 h
    """
    return "\n".join(line.rstrip() for line in _lines(plan, "", ""))


def _lines(node: PlanNode, branch: str, below: str) -> Iterator[str]:
    """The lines of a node: its title after `branch`, its facts and its inputs after `below`."""
    yield from _wrapped(node.title, branch, f"{below}  ")
    bar = f"{below}│  " if node.children else f"{below}  "
    for fact in node.facts:
        yield from _wrapped(str(fact), bar, f"{bar}  ")
    for i, child in enumerate(node.children):
        is_last = i == len(node.children) - 1
        yield from _lines(child, f"{below}{'└─ ' if is_last else '├─ '}", f"{below}{'   ' if is_last else '│  '}")


def _wrapped(text: str, first: str, others: str) -> list[str]:
    width = max(WIDTH, len(others) + _LEAST_WIDTH)
    return wrap(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


# JSON


def as_json(plan: PlanNode) -> str:
    """The plan as JSON, each node with `kind`, `name`, `title`, `punctuates`, `facts` by name, `children`.

    >>> from punctuated.plan.tree import NodeKind
    >>> json.loads(as_json(PlanNode(NodeKind.STREAM, "A: left stream")))["kind"]
    'stream'
    """
    return json.dumps(_values(plan), indent=2, ensure_ascii=False)


def _values(node: PlanNode) -> dict[str, Any]:
    facts = {fact.name: {"text": fact.text, **fact.data} for fact in node.facts}
    children = [_values(child) for child in node.children]
    return {
        "kind": node.kind.value,
        "name": node.name,
        "title": node.title,
        "punctuates": node.punctuates,
        "facts": facts,
        "children": children,
    }


# All formats

FORMATS: dict[str, Callable[[PlanNode], str]] = {"text": as_text, "json": as_json, "svg": as_svg}


def explain(plan: PlanNode, format: str = "text") -> str:
    """The plan as `text` or as a picture (`svg`) for people, or as `json` for machines."""
    if format not in tuple(FORMATS):  # a tuple, since a wrong format may be an object that cannot be hashed
        raise ExplainError(f"format={format!r}: a plan is shown as {', '.join(map(repr, FORMATS))}")
    return FORMATS[format](plan)
