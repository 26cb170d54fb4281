"""A plan as JSON, for machines."""

import json
from collections.abc import Callable, Iterator
from textwrap import wrap
from typing import Any

from punctuated.errors import ExplainError
from punctuated.plan.rendering.picture import as_svg
from punctuated.plan.tree import PlanNode

WIDTH = 120
_LEAST = 40  # that lines of a very deep tree still get


def as_json(plan: PlanNode) -> str:
    """The tree as JSON: `kind`, `name`, `title`, `punctuates`, `facts` by name, `children`.

    >>> from punctuated.plan.tree import Kind
    >>> json.loads(as_json(PlanNode(Kind.STREAM, "A: left stream")))["kind"]
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


# A plan as text: a tree of lines, none wider than a wide terminal.


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


# A plan as text, JSON or a picture.


FORMATS: dict[str, Callable[[PlanNode], str]] = {"text": as_text, "json": as_json, "svg": as_svg}


def explain(plan: PlanNode, format: str = "text") -> str:
    """The plan in this format: `text` for people, `json` for machines, `svg` for those who would rather look."""
    if format not in tuple(FORMATS):  # whatever it is, also what cannot be hashed
        raise ExplainError(f"format={format!r}: a plan is shown as {', '.join(map(repr, FORMATS))}")
    return FORMATS[format](plan)
