"""The site: its navigation lists every page, links lead somewhere, and the API reference has every public name.

`make docs` checks the same and more, by building the site; this is cheap enough to be part of every test run.
"""

import re
import runpy
import unicodedata
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import punctuated as pt

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = {"changelog.md"}  # by scripts/site_pages.py
LISTED = re.compile(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MADE_ANCHOR = re.compile(r"^punctuated\.")  # by mkdocstrings


def navigation() -> list[str]:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    return LISTED.findall(nav)


@cache
def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> frozenset[str]:
    return frozenset(map(anchor, HEADING.findall(prose(page))))


def anchor(heading: str) -> str:
    """As Python-Markdown makes it."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading)
    letters = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", letters).strip().lower())


def broken(page: Path) -> list[str]:
    """Links that lead nowhere; those to outside are not looked at."""
    found = []
    for path, fragment in LINK.findall(prose(page)):
        target = (page.parent / path).resolve() if path else page
        is_there = target.exists() and target.is_relative_to(ROOT)
        if is_there and fragment and target.suffix == ".md" and not MADE_ANCHOR.match(fragment):
            is_there = fragment in anchors(target)
        if not is_there:
            found.append(f"{path}#{fragment}" if fragment else path)
    return found


def test_the_navigation_lists_every_page_once() -> None:
    assert sorted(navigation()) == sorted({*(str(page.relative_to(DOCS)) for page in PAGES), *GENERATED})


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CHANGELOG.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# The way *out*\n[a](#the-way-out) [b](#in) [c](no.md) [d](page.md#in) [e](https://x.org/#y)\n")
    assert broken(page) == ["#in", "no.md", "page.md#in"]


def test_the_reference_has_every_public_name() -> None:
    reference = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "api").glob("*.md")))
    shown = set(re.findall(r"^::: punctuated(?:\.\w+)*\.(\w+)$", reference, re.MULTILINE))
    modules = {"cost", "metrics", "streams"}
    assert {name for name in pt.__all__ if name != "__version__"} - shown - modules == set()


def test_nothing_is_loaded_from_outside() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in settings and "http" not in settings and "analytics" not in settings


def test_what_is_written_for_the_repository_works_on_the_site() -> None:
    hook = runpy.run_path(str(ROOT / "scripts" / "site_pages.py"))
    page = SimpleNamespace(file=SimpleNamespace(src_uri="decisions/001.md"), meta={})
    written = "[p](../../examples/planes.py) [c](../../CHANGELOG.md)\n| `a \\| b` | c \\| d |"
    shown = "[p](../examples/planes.py) [c](../changelog.md)\n| `a | b` | c \\| d |"
    assert hook["on_page_markdown"](written, page, config=None, files=None) == shown
