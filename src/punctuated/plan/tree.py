"""The plan of a query as a tree: what is done, what is known of it, and below it what it is done to.

Rows and punctuations flow from the leaves to the root. The tree is made once, of plain data; `rendering` shows it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from punctuated.model.spec import StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow, show_duration


class Kind(StrEnum):
    """What a node of a plan is."""

    OUTPUT = "output"
    GROUPS = "groups"
    JOIN = "join"
    STREAM = "stream"


@dataclass(frozen=True)
class Fact:
    """One thing that is known of a node: its name, words for people, and the same for machines where there is more."""

    name: str
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_flow: bool = False  # whether it says where punctuations come from, or go to

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True)
class PlanNode:
    """A step of a plan; its children are its inputs."""

    kind: Kind
    title: str
    facts: tuple[Fact, ...] = ()
    children: tuple["PlanNode", ...] = ()
    punctuates: bool = False  # whether punctuations flow on from here
    name: str = ""  # of a stream

    def nodes(self) -> Iterator["PlanNode"]:
        """This node, and all below it.

        >>> [node.title for node in PlanNode(Kind.JOIN, "join", children=(PlanNode(Kind.STREAM, "A"),)).nodes()]
        ['join', 'A']
        """
        yield self
        for child in self.children:
            yield from child.nodes()

    def fact(self, name: str) -> Fact | None:
        """The fact of that name, if there is one."""
        return next((fact for fact in self.facts if fact.name == name), None)


# Durations, rates, windows and sources of punctuations in words.


def count(n: int, what: str) -> str:
    """So many of something.

    >>> count(1, "tuple"), count(1200, "tuple")
    ('1 tuple', '1,200 tuples')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def rate(per_second: float) -> str:
    """In the unit that shows it best.

    >>> rate(1234.5), rate(1 / 7200)
    ('1,234.5/s', '12.0/day')
    """
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:,.1f}/{unit}"
    return f"{per_second * 86400:,.1f}/day"


def cpu(seconds: float) -> str:
    """A time of work, in the unit that shows it best.

    >>> cpu(7.241), cpu(0.0000383), cpu(1e-9)
    ('7.24 s', '38.3 µs', 'less than 1 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "less than 1 µs"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a row.

    >>> listed(["A", "B", "C"]), listed(["A"])
    ('A, B and C', 'A')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def window(stream: StreamSpec) -> str:
    """A window in words."""
    ours = stream.window
    if isinstance(ours, CountWindow):
        per = " of each key" if ours.per_key else ", in one bucket"
        return f"last {count(ours.n, 'tuple')}{per}"
    if isinstance(ours, TimeWindow):
        span = show_duration(ours.span_us)
        return f"{show_duration(ours.offset_us)} to {span}" if ours.offset_us else span
    return f"until {ours.column!r}" if isinstance(ours, UntilWindow) else "none"


def lateness(stream: StreamSpec) -> str:
    """How late its tuples may be, in words."""
    return "watermark of its input" if stream.is_output else f"lateness {show_duration(stream.lateness_us)}"
