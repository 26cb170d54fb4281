"""A plan as JSON, for machines."""

import json
from typing import Any

from punctuated.plan.tree import PlanNode


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
