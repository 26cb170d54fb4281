"""A plan as a picture: SVG that needs nothing else, in light and in dark.

Inputs stand on the left of what is done to them. Rows flow along the solid arrows to the results on the right, and
punctuations along the dashed ones.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from xml.sax.saxutils import escape, quoteattr

from punctuated.plan.tree import Fact, PlanNode

BOX_WIDTH, PADDING = 340, 14
BETWEEN_COLUMNS, BETWEEN_ROWS, MARGIN = 84, 22, 24
LINE, TITLE_LINE = 17, 20
TITLE_SIZE, FACT_SIZE = 14, 12
_TEXT_WIDTH = 290  # the rest of the box is for readers whose letters are wider
_BOLD = 1.16  # how much wider bold letters are
_NARROW, _WIDE = "fijlrtI.,:;'|!()[] /", "mwMWQOG%@"  # letters far from the usual width
_LEGEND_HEIGHT = 34
_OUTPUT_LENGTH = 56  # of the arrows that leave the root
_HALF_GAP = 7  # between the arrows of rows and punctuations from one input
_WORD_PARTS = re.compile(r"[^_.,/-]*[_.,/-]|[^_.,/-]+")
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Point = tuple[float, float]


# Layout


@dataclass(frozen=True)
class Box:
    """A node and its inputs, with their positions in the picture."""

    node: PlanNode
    column: int  # counted from the root, which is on the right
    top: float  # upper edge of the box and of everything on the left of it
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
        """The height of the box itself."""
        n_lines = sum(len(lines) for _, lines in self.facts)
        return 2 * PADDING + TITLE_LINE * len(self.titles) + LINE * n_lines + 2 * len(self.facts)

    @cached_property
    def span(self) -> float:
        """The height of the box, or of all its inputs, whichever is larger."""
        return max(self.height, _stacked(self.inputs))

    @property
    def y(self) -> float:
        """The upper edge of the box, in the middle of its inputs."""
        return self.top + (self.span - self.height) / 2

    def moved(self, by: float) -> "Box":
        """This box and its inputs, farther down."""
        return replace(self, top=self.top + by, inputs=tuple(each.moved(by) for each in self.inputs))

    def all(self) -> Iterator["Box"]:
        """This box and all boxes from which rows come to it."""
        yield self
        for each in self.inputs:
            yield from each.all()


def placed(node: PlanNode, column: int = 0, top: float = MARGIN) -> Box:
    """The boxes of a plan, each input in the column before its node and in the middle of its own inputs."""
    inputs = [placed(child, column + 1, 0.0) for child in node.children]
    missing = max(0.0, Box(node, column, top, ()).height - _stacked(inputs))
    tops = accumulate((each.span + BETWEEN_ROWS for each in inputs), initial=top + missing / 2)
    return Box(node, column, top, tuple(each.moved(by) for each, by in zip(inputs, tops, strict=False)))


def _stacked(boxes: "list[Box] | tuple[Box, ...]") -> float:
    return sum(each.span for each in boxes) + BETWEEN_ROWS * max(0, len(boxes) - 1)


def wrapped(text: str, size: float, width: float) -> list[str]:
    """The text in lines of this width, in letters of this size; words that are too long are cut.

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
    """The pieces of a word that is too long: cut after punctuation marks where that is possible."""
    pieces = [""]
    for part in _WORD_PARTS.findall(word):
        for each in [part] if _width(part, size) <= width else part:
            if pieces[-1] and _width(pieces[-1] + each, size) > width:
                pieces.append("")
            pieces[-1] += each
    return pieces


def _width(text: str, size: float) -> float:
    """The width of a text in common fonts without serifs, rather too large than too small."""
    return size * sum(0.33 if letter in _NARROW else 0.88 if letter in _WIDE else _usual(letter) for letter in text)


def _usual(letter: str) -> float:
    return 0.69 if letter.isupper() else 0.57 if ord(letter) < 0x1100 else 1.05


# Style

# Each rule has its colours itself, since many viewers do not know variables of CSS.
_LIGHT = {
    "ground": "#ffffff",
    "box": "#f6f8fa",
    "edge": "#c3ccd5",
    "text": "#1f2933",
    "faint": "#5f6c7b",
    "rows": "#1f6aa5",
    "flow": "#b4530a",
}
_DARK = {
    "ground": "#14181d",
    "box": "#1e252c",
    "edge": "#43505c",
    "text": "#e6ebf0",
    "faint": "#9aa7b4",
    "rows": "#6cb2ec",
    "flow": "#f0954a",
}
_COLOURS = """
.plan .ground {{ fill: {ground}; }}
.plan .box {{ fill: {box}; stroke: {edge}; }}
.plan .join {{ stroke: {rows}; }}
.plan text {{ fill: {text}; }}
.plan .name {{ fill: {faint}; }}
.plan .flow, .plan .flow .name {{ fill: {flow}; }}
.plan path.rows {{ stroke: {rows}; }}
.plan path.punctuations {{ stroke: {flow}; }}
.plan .rows-head {{ fill: {rows}; }}
.plan .punctuations-head {{ fill: {flow}; }}
"""
_SHAPES = f"""
.plan text {{ font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-size: {FACT_SIZE}px; }}
.plan .title {{ font-size: {TITLE_SIZE}px; font-weight: 600; }}
.plan .join {{ stroke-width: 1.6; }}
.plan path {{ fill: none; stroke-width: 2; }}
.plan path.punctuations {{ stroke-dasharray: 6 4; }}
"""
_STYLE = f"""{_SHAPES}{_COLOURS.format(**_LIGHT)}
@media (prefers-color-scheme: dark) {{{_COLOURS.format(**_DARK)}}}
"""


# Drawing


def as_svg(plan: PlanNode) -> str:
    """The plan as the text of an SVG file."""
    root = placed(plan)
    n_columns = 1 + max(box.column for box in root.all())
    width = 2 * MARGIN + n_columns * BOX_WIDTH + (n_columns - 1) * BETWEEN_COLUMNS + _OUTPUT_LENGTH
    height = 2 * MARGIN + root.span + _LEGEND_HEIGHT
    boxes = [
        _DrawnBox(box, MARGIN + (n_columns - 1 - box.column) * (BOX_WIDTH + BETWEEN_COLUMNS)) for box in root.all()
    ]
    parts = [*(line for box in boxes for line in box.arrows()), *(line for box in boxes for line in box.drawn())]
    return "\n".join([*_opened(plan, width, height), *parts, *boxes[0].output(), *_legend(height), "</svg>", ""])


class _DrawnBox:
    """A box and its left edge."""

    def __init__(self, box: Box, x: float) -> None:
        self._box, self._x = box, x

    def drawn(self) -> Iterator[str]:
        """The box, its title, and its facts."""
        box, x, y = self._box, self._x, self._box.y
        shape = f'x="{x:g}" y="{y:g}" width="{BOX_WIDTH}" height="{box.height:g}" rx="8"'
        yield f'<rect class="box {box.node.kind.value}" {shape}/>'
        y += PADDING - 3
        for title in box.titles:
            y += TITLE_LINE
            yield f'<text class="title" x="{x + PADDING:g}" y="{y - 3:g}">{_text(title)}</text>'
        for fact, lines in box.facts:
            y += 2
            for i, line in enumerate(lines):
                y += LINE
                style = ' class="flow"' if fact.is_flow else ""
                words = _with_name(fact, line) if i == 0 else _text(line)
                yield f'<text{style} x="{x + PADDING:g}" y="{y - 3:g}">{words}</text>'

    def arrows(self) -> Iterator[str]:
        """Arrows from each input into this box."""
        box = self._box
        for i, each in enumerate(box.inputs):
            into = box.y + box.height * (i + 1) / (len(box.inputs) + 1)
            out = each.y + each.height / 2
            yield from _both(each.node, (self._x - BETWEEN_COLUMNS, out), (self._x, into))

    def output(self) -> Iterator[str]:
        """Arrows from the root to the right edge."""
        x, y, node = self._x + BOX_WIDTH, self._box.y + self._box.height / 2, self._box.node
        yield from _both(node, (x, y), (x + _OUTPUT_LENGTH, y))


def _both(node: PlanNode, start: Point, to: Point) -> Iterator[str]:
    """Arrows of the rows and, below them, of the punctuations that leave a node; they never cross."""
    if not node.punctuates:
        yield _arrow("rows", start, to)
        return
    for kind, y in (("rows", -_HALF_GAP), ("punctuations", _HALF_GAP)):
        shift = -y * (1 if to[1] > start[1] else -1)
        yield _arrow(kind, (start[0], start[1] + y), (to[0], to[1] + y), shift)


def _arrow(kind: str, start: Point, to: Point, shift: float = 0) -> str:
    """A curve and its head; the steep part of the curve is moved to the right by `shift`."""
    (from_x, from_y), (to_x, to_y) = start, to
    end, middle = to_x - 9, (from_x + to_x - 9) / 2 + shift
    curve = f"M{from_x:g},{from_y:.1f} C{middle:g},{from_y:.1f} {middle:g},{to_y:.1f} {end:g},{to_y:.1f}"
    corners = [(to_x, to_y), (end, to_y - 5), (end, to_y + 5)]
    head = " ".join(f"{x:g},{y:.1f}" for x, y in corners)
    return f'<path class="{kind}" d="{curve}"/><polygon class="{kind}-head" points="{head}"/>'


def _opened(plan: PlanNode, width: float, height: float) -> Iterator[str]:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    label = quoteattr(_clean(plan.title))
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="plan" role="img" aria-label={label} {size}>'
    yield f"<title>{_text(plan.title)}</title>"
    yield f"<style>{_STYLE}</style>"
    yield f'<rect class="ground" width="{width:g}" height="{height:g}" rx="10"/>'


def _legend(height: float) -> Iterator[str]:
    y, x = height - MARGIN, MARGIN
    for kind, length in (("rows", 100), ("punctuations", 0)):
        yield _arrow(kind, (x, y), (x + 44, y))
        yield f'<text x="{x + 52}" y="{y + 4:g}">{kind}</text>'
        x += length


def _with_name(fact: Fact, line: str) -> str:
    """The first line of a fact, with its name in another colour."""
    name = f"{fact.name}:"
    if not line.startswith(name):
        return _text(line)
    return f'<tspan class="name">{_text(name)}</tspan>{_text(line[len(name) :])}'


def _text(text: str) -> str:
    return escape(_clean(text))


def _clean(text: str) -> str:
    """The text without characters that XML does not have; columns may have any name."""
    return _NOT_IN_XML.sub("\ufffd", text)
