"""Draws the folders of the package in the order in which a tuple goes through them, and writes their table.

    python scripts/draw_architecture.py

The order is that of the import contract in `pyproject.toml`, the idea of a folder the first sentence of its docstring.
A test compares the result with `docs/contributing/architecture.md` and `docs/pictures/architecture.svg`.
"""

import ast
import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "punctuated"
PAGE = ROOT / "docs" / "contributing" / "architecture.md"
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"
BEGIN, END = "<!-- folders -->", "<!-- end of folders -->"
NO_FOLDER = ("__main__", "errors", "address_space")

# What the picture groups folders by; each belongs to the group in which it stands.
GROUPS = {
    "what users call": ("cli", "sql", "api"),
    "runners": ("spark", "local"),
    "what will run": ("runtime", "bind", "plan"),
    "one batch": ("operator", "spill", "exchange", "output", "shedding", "aggregates"),
    "what is remembered": ("punctuations", "state"),
    "what comes in": ("intake",),
    "what is general": ("keys", "expressions", "snapshot", "arrow", "kernels", "storage", "model"),
}
WIDTH, ROW, LABEL, TOP = 860, 26, 150, 12


class Folder(NamedTuple):
    """A folder of the package: its name, and its idea in a sentence."""

    name: str
    idea: str

    @property
    def tests(self) -> str:
        """Where its tests are."""
        return f"tests/{self.name}"


def folders() -> list[Folder]:
    """All folders, in the order in which a tuple goes through them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = next(each for each in settings["tool"]["importlinter"]["contracts"] if each["id"] == "layers")["layers"]
    names = [name.strip() for layer in layers for name in layer.split("|")]
    return [Folder(name, _idea(name)) for name in names if name not in NO_FOLDER]


def _idea(name: str) -> str:
    text = ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def table(known: list[Folder]) -> str:
    """The folders as a table in Markdown."""
    rows = [f"| `{each.name}` | {each.idea} | `{each.tests}` |" for each in known]
    return "\n".join([BEGIN, "| folder | idea | tests |", "|---|---|---|", *rows, END])


def picture(known: list[Folder]) -> str:
    """The folders as a picture, in the order in which each may import what stands below it."""
    ideas = {each.name: each.idea for each in known}
    assert [name for names in GROUPS.values() for name in names] == [each.name for each in known]
    parts, y = [], TOP
    for group, names in GROUPS.items():
        height = len(names) * ROW + 10
        parts.append(f'<rect class="group" x="8" y="{y}" width="{WIDTH - 16}" height="{height}" rx="6"/>')
        parts.append(f'<text class="label" x="20" y="{y + height / 2 + 4:.0f}">{escape(group)}</text>')
        for number, name in enumerate(names):
            middle = y + 5 + number * ROW + ROW / 2
            parts.append(f'<text class="folder" x="{LABEL + 20}" y="{middle + 4:.0f}">{name}</text>')
            idea = _shortened(ideas[name])
            parts.append(f'<text class="idea" x="{LABEL + 130}" y="{middle + 4:.0f}">{escape(idea)}</text>')
        y += height + 6
    style = (
        "text{font:13px sans-serif;fill:#222}.label{fill:#666}.folder{font-family:monospace;font-weight:bold}"
        ".group{fill:#f4f6f8;stroke:#c8d0d8}.background{fill:#fff}"
        "@media (prefers-color-scheme:dark){text{fill:#ddd}.label{fill:#999}"
        ".group{fill:#23282d;stroke:#444c54}.background{fill:#1b1f23}}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" role="img">'
    title = "<title>The folders of the package, in the order in which a tuple goes through them</title>"
    return "\n".join(
        [
            head,
            title,
            f"<style>{style}</style>",
            '<rect class="background" width="100%" height="100%"/>',
            *parts,
            "</svg>",
        ]
    )


def _shortened(idea: str, most: int = 84) -> str:
    """The idea up to its first full stop, colon or semicolon, at most a line long."""
    for sign in (". ", ": ", "; "):
        idea = idea.split(sign)[0]
    idea = idea.rstrip(".")
    return idea if len(idea) <= most else idea[: most - 1].rsplit(" ", 1)[0] + " …"


def page(text: str, known: list[Folder]) -> str:
    """The page with the table of these folders."""
    before, rest = text.split(BEGIN)
    return before + table(known) + rest.split(END)[1]


if __name__ == "__main__":
    found = folders()
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
    PICTURE.write_text(picture(found) + "\n", encoding="utf-8")
