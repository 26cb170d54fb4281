"""Where the nodes of a plan stand in a picture: inputs on the left, what is done to them on the right of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from punctuated.plan.tree import Fact, PlanNode

BOX_WIDTH, PADDING = 340, 14
_TEXT_WIDTH = 290  # the rest is for readers whose letters are wider
LINE, TITLE_LINE = 17, 20
TITLE_SIZE, FACT_SIZE = 14, 12
_BOLD = 1.16  # how much wider bold letters are
BETWEEN_COLUMNS, BETWEEN_ROWS, MARGIN = 84, 22, 24
_PARTS = re.compile(r"[^_.,/-]*[_.,/-]|[^_.,/-]+")
_NARROW, _WIDE = "fijlrtI.,:;'|!()[] /", "mwMWQOG%@"  # letters far from the usual width


@dataclass(frozen=True)
class Box:
    """A node in its place, and its inputs in theirs."""

    node: PlanNode
    column: int  # from the root, which stands in the last one
    top: float  # of the box and everything on the left of it
    inputs: tuple["Box", ...]

    @property
    def titles(self) -> list[str]:
        """The lines of the title."""
        return wrapped(self.node.title, _BOLD * TITLE_SIZE, _TEXT_WIDTH)

    @cached_property
    def facts(self) -> list[tuple[Fact, list[str]]]:
        """The facts, each with its lines."""
        return [(fact, wrapped(str(fact), FACT_SIZE, _TEXT_WIDTH)) for fact in self.node.facts]

    @cached_property
    def height(self) -> float:
        """Of the box itself."""
        n_lines = sum(len(lines) for _, lines in self.facts)
        return 2 * PADDING + TITLE_LINE * len(self.titles) + LINE * n_lines + 2 * len(self.facts)

    @cached_property
    def span(self) -> float:
        """The height of the box, or that of its inputs together."""
        return max(self.height, _stacked(self.inputs))

    @property
    def y(self) -> float:
        """The upper edge of the box, in the middle of its inputs."""
        return self.top + (self.span - self.height) / 2

    def moved(self, by: float) -> "Box":
        """The same, farther down."""
        return replace(self, top=self.top + by, inputs=tuple(each.moved(by) for each in self.inputs))

    def all(self) -> Iterator["Box"]:
        """This box, and all that flow into it."""
        yield self
        for each in self.inputs:
            yield from each.all()


def placed(node: PlanNode, column: int = 0, top: float = MARGIN) -> Box:
    """The boxes of a plan; columns are counted from the root."""
    inputs = [placed(child, column + 1, 0.0) for child in node.children]
    missing = max(0.0, Box(node, column, top, ()).height - _stacked(inputs))
    tops = accumulate((each.span + BETWEEN_ROWS for each in inputs), initial=top + missing / 2)
    return Box(node, column, top, tuple(each.moved(by) for each, by in zip(inputs, tops, strict=False)))


def _stacked(boxes: "list[Box] | tuple[Box, ...]") -> float:
    return sum(each.span for each in boxes) + BETWEEN_ROWS * max(0, len(boxes) - 1)


def wrapped(text: str, size: float, width: float) -> list[str]:
    """The text in lines of this width, letters being so large; words that are too long are cut.

    >>> wrapped("a long line", 12, 50)
    ['a long', 'line']
    """
    lines, line = [], ""
    for word in " ".join(text.split()).split(" "):
        if _width(f"{line} {word}".strip(), size) <= width:
            line = f"{line} {word}".strip()
            continue
        *cut, rest = _cut(word, size, width)
        lines += [*([line] if line else []), *cut]
        line = rest
    return [*lines, line]


def _cut(word: str, size: float, width: float) -> list[str]:
    """Where its parts end, if they are not too long themselves."""
    pieces = [""]
    for part in _PARTS.findall(word):
        for each in [part] if _width(part, size) <= width else part:
            if pieces[-1] and _width(pieces[-1] + each, size) > width:
                pieces.append("")
            pieces[-1] += each
    return pieces


def _width(text: str, size: float) -> float:
    """About as wide as it is in common fonts without serifs, rather more than less."""
    return size * sum(0.33 if letter in _NARROW else 0.88 if letter in _WIDE else _usual(letter) for letter in text)


def _usual(letter: str) -> float:
    return 0.69 if letter.isupper() else 0.57 if ord(letter) < 0x1100 else 1.05
