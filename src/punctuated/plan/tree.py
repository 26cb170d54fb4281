"""The plan of a query as a tree of plain data, and the wording of its facts.

A node is a step: what is done, what is known of it, and below it the inputs to which it is done. Rows and punctuations
flow from the leaves to the root. `plan.planner` makes trees, `plan.rendering` shows them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from punctuated.model.spec import StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow, show_duration


class NodeKind(StrEnum):
    """The kinds of nodes of a plan."""

    OUTPUT = "output"
    GROUPS = "groups"
    JOIN = "join"
    STREAM = "stream"


@dataclass(frozen=True)
class Fact:
    """One thing known of a node: its name, a text for people, and data for machines that say more than the text."""

    name: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_flow: bool = False  # whether it says where punctuations come from, or where they go

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True)
class PlanNode:
    """A step of a plan; its children are its inputs."""

    kind: NodeKind
    title: str
    facts: tuple[Fact, ...] = ()
    children: tuple["PlanNode", ...] = ()
    punctuates: bool = False  # whether punctuations flow on from here
    name: str = ""  # of the stream, if the node is one

    def nodes(self) -> Iterator["PlanNode"]:
        """This node and all nodes below it, each before its inputs.

        >>> [node.title for node in PlanNode(NodeKind.JOIN, "join", children=(PlanNode(NodeKind.STREAM, "A"),)).nodes()]
        ['join', 'A']
        """
        yield self
        for child in self.children:
            yield from child.nodes()

    def fact(self, name: str) -> Fact | None:
        """The fact of this name; None if the node has none."""
        return next((fact for fact in self.facts if fact.name == name), None)


# Wording


def show_count(n: int, what: str) -> str:
    """A number and the noun that it counts.

    >>> show_count(1, "tuple"), show_count(1200, "tuple")
    ('1 tuple', '1,200 tuples')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def show_rate(per_second: float) -> str:
    """A rate, in the shortest unit of time that makes it 1 or more.

    >>> show_rate(1234.5), show_rate(1 / 7200)
    ('1,234.5/s', '12.0/day')
    """
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:,.1f}/{unit}"
    return f"{per_second * 86400:,.1f}/day"


def show_cpu(seconds: float) -> str:
    """A CPU time, in the largest unit that makes it 1 or more.

    >>> show_cpu(7.241), show_cpu(0.0000383), show_cpu(1e-9)
    ('7.24 s', '38.3 µs', 'less than 1 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "less than 1 µs"


def show_names(names: Sequence[str], last: str = "and") -> str:
    """Names as a list in a sentence; `last` stands before the last one.

    >>> show_names(["A", "B", "C"]), show_names(["A"])
    ('A, B and C', 'A')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def show_window(stream: StreamSpec) -> str:
    """The window of a stream."""
    window = stream.window
    if isinstance(window, CountWindow):
        scope = " of each key" if window.per_key else ", in one bucket"
        return f"last {show_count(window.n, 'tuple')}{scope}"
    if isinstance(window, TimeWindow):
        span = show_duration(window.span_us)
        return f"{show_duration(window.offset_us)} to {span}" if window.offset_us else span
    return f"until {window.column!r}" if isinstance(window, UntilWindow) else "none"


def show_lateness(stream: StreamSpec) -> str:
    """How late the tuples of a stream may be."""
    return "watermark of its input" if stream.is_output else f"lateness {show_duration(stream.lateness_us)}"
