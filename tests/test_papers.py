"""Codes of paper items: every one that is cited is in docs/papers.md, and none is in what a user is shown."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import punctuated as pt
from punctuated.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs" / "papers.md"
CODE = re.compile(r"\b(?:PW|PJ|KN|WJ|XD)-\d\d\b")
PLACES = ("src", "papers", "tests", "docs", "benchmarks", "README.md", "CHANGELOG.md")


def texts() -> Iterator[Path]:
    """Every file that may cite an item; the index itself does not count."""
    for place in PLACES:
        found = [ROOT / place] if place.endswith(".md") else sorted((ROOT / place).rglob("*"))
        yield from (path for path in found if path.suffix in (".py", ".md") and path != INDEX)


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def indexed() -> Counter[str]:
    return Counter(re.findall(rf"^\| ({CODE.pattern}) \|", INDEX.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_item_that_is_cited_is_in_the_index() -> None:
    cited = {code: path for path in texts() for code in CODE.findall(path.read_text(encoding="utf-8"))}
    assert len(cited) > 100
    assert {code: path for code, path in cited.items() if code not in indexed()} == {}


def test_the_index_has_every_item_once_and_leaves_none_out() -> None:
    assert [code for code, times in indexed().items() if times > 1] == []
    numbers: dict[str, list[int]] = {}
    for code in indexed():
        numbers.setdefault(code[:2], []).append(int(code[3:]))
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    assert {paper: len(found) for paper, found in numbers.items()} == {"PW": 67, "PJ": 22, "KN": 44, "WJ": 44, "XD": 23}


@pytest.mark.parametrize("page", [page for page in pages() if page != INDEX], ids=lambda page: page.name)
def test_a_page_that_cites_an_item_links_the_index_there_or_before(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    first = next((i for i, line in enumerate(lines) if CODE.search(line)), None)
    assert first is None or any("papers.md)" in line for line in lines[: first + 1])


# What a user is shown


def shown_strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """All texts of a module but its docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def test_no_text_that_the_package_prints_or_raises_has_a_code() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in shown_strings(ast.parse(path.read_text(encoding="utf-8")))
        if CODE.search(str(node.value))
    ]
    assert found == []


def test_texts_are_told_from_docstrings() -> None:
    tree = ast.parse('"""PW-01"""\ndef f():\n    """PW-02"""\n    return f"PW-03 {1}", "PW-04"')
    assert [node.value for node in shown_strings(tree)] == ["PW-04", "PW-03 "]


def commands(command: Any, *names: str) -> Iterator[tuple[str, ...]]:
    """The names of a command and of all below it."""
    yield names
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, *names, name)


def test_no_help_of_a_command_has_a_code() -> None:
    shown = {names: CliRunner().invoke(app, [*names, "--help"]).stdout for names in commands(get_command(app))}
    assert len(shown) > 10 and all("Usage:" in text for text in shown.values())
    assert [names for names, text in shown.items() if CODE.search(text)] == []


def test_no_docstring_of_a_public_name_has_a_code() -> None:
    public = {name: getattr(pt, name).__doc__ or "" for name in pt.__all__ if callable(getattr(pt, name))}
    assert [name for name, text in public.items() if CODE.search(text)] == []
