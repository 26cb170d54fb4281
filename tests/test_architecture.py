"""The page and the picture of the folders are what their docstrings say; make them by scripts/draw_architecture.py."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from loaded_script import load_script

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(path.parent for path in (ROOT / "src" / "punctuated").rglob("__init__.py"))


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    return load_script("draw_architecture")


def test_page_and_picture_are_up_to_date(drawing: ModuleType) -> None:
    known, text = drawing.folders(), drawing.PAGE.read_text(encoding="utf-8")
    assert drawing.page(text, known) == text
    assert drawing.picture(known) + "\n" == drawing.PICTURE.read_text(encoding="utf-8")


def test_every_folder_of_tests_that_the_page_names_is_there(drawing: ModuleType) -> None:
    assert [each.tests for each in drawing.folders() if not (ROOT / each.tests).is_dir()] == []


@pytest.mark.parametrize("folder", FOLDERS[1:], ids=lambda path: str(path.relative_to(FOLDERS[0])))
def test_every_folder_says_what_it_may_import_and_where_its_tests_are(folder: Path) -> None:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    assert re.search(r"\b(May import|[Ii]mports)\b", text)
    assert "tests/" in text


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BASES = (ROOT, ROOT / "src", ROOT / "src" / "punctuated", ROOT / "docs")


@pytest.mark.parametrize("page", [page for page in PAGES if "decisions" not in page.parts], ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    """Decisions name the files of their time."""
    named = re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|md|sql|sh|toml))`", page.read_text(encoding="utf-8"))
    others = ("pyspark/", "target/")
    assert [name for name in named if not name.startswith(others) and not any((b / name).exists() for b in BASES)] == []
