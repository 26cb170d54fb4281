"""The python blocks of a page of the docs, what is said about each, and what is shown below it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

NO_RUN, PROGRAM, SPARK, WARNS = "no-run", "program", "spark", "warns"
_MARK = re.compile(rf"<!-- ({NO_RUN}|{PROGRAM}|{SPARK}|{WARNS} \w+) -->\s*\Z")
_BLOCK = re.compile(r"^```python\b[^\n]*\n(.*?)^```[ \t]*$(?:\n\n```text\n(.*?)^```[ \t]*$)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block, moved down to its own line so that a traceback points there."""

    code: str
    mark: str | None = None
    warning: str | None = None  # the name of the one that it gives
    shown: str | None = None  # what it prints: the block of text that follows at once


def blocks(text: str) -> Iterator[Block]:
    """All python blocks of a page, in order."""
    for fence in _BLOCK.finditer(text):
        mark, warning = _mark(text[: fence.start()])
        yield Block("\n" * text.count("\n", 0, fence.start(1)) + fence[1], mark, warning, fence[2])


def _mark(before: str) -> tuple[str | None, str | None]:
    found = _MARK.search(before)
    if found is None:
        return None, None
    mark, _, warning = found[1].partition(" ")
    return mark, warning or None


def marked(text: str, *marks: str | None) -> list[Block]:
    """The blocks with one of these marks."""
    return [block for block in blocks(text) if block.mark in marks]


def pages_with(*marks: str | None) -> list[Path]:
    """The pages that have such a block."""
    return [path for path in PAGES if marked(path.read_text(encoding="utf-8"), *marks)]
