"""The plan of a query as a tree: what is done, what is known of it, and below it what it is done to.

Rows and punctuations flow from the leaves to the root. The tree is made once, of plain data; `rendering` shows it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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
