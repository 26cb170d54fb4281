"""A plan as text, JSON or a picture."""

from collections.abc import Callable

from punctuated.errors import ExplainError
from punctuated.plan.rendering.picture import as_svg
from punctuated.plan.rendering.text import as_text
from punctuated.plan.rendering.values import as_json
from punctuated.plan.tree import PlanNode

FORMATS: dict[str, Callable[[PlanNode], str]] = {"text": as_text, "json": as_json, "svg": as_svg}


def explain(plan: PlanNode, format: str = "text") -> str:
    """The plan in this format: `text` for people, `json` for machines, `svg` for those who would rather look."""
    if format not in tuple(FORMATS):  # whatever it is, also what cannot be hashed
        raise ExplainError(f"format={format!r}: a plan is shown as {', '.join(map(repr, FORMATS))}")
    return FORMATS[format](plan)
