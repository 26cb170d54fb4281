"""What the site has beside the pages of `docs`: the changelog and the example programs, which live outside that folder.

A hook of MkDocs. Links to them are written as they are in the repository (`../examples/planes.py`), so that they work
there as well.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = re.compile(r"\]\((?:\.\./)+(examples/\w+\.(?:py|sql)|CHANGELOG\.md|README\.md)")
CODE = re.compile(r"`[^`\n]*`")
INTO_DOCS = re.compile(r"\]\(docs/")
FOR_INSIDERS = ("decisions/", "experiments", "papers.", "changelog.")
PLACES = {"CHANGELOG.md": "changelog.md", "README.md": "index.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The changelog becomes a page, each example a file to download."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "changelog.md", content=INTO_DOCS.sub("](", changelog)))
    for example in sorted((ROOT / "examples").glob("*")):
        if example.suffix in (".py", ".sql"):
            files.append(File.generated(config, f"examples/{example.name}", abs_src_path=str(example)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """What is written for readers of the repository becomes what MkDocs wants."""
    if 'class="side-by-side"' in markdown or ".svg)" in markdown:
        page.meta["hide"] = ["toc"]  # two programs, or a plan, need the room
    if page.file.src_uri.startswith(FOR_INSIDERS):
        page.meta["search"] = {"boost": 0.3}  # who searches finds the guides first
    up = "../" * page.file.src_uri.count("/")
    linked = OUTSIDE.sub(lambda link: f"]({up}{PLACES.get(link[1], link[1])}", markdown)
    return "\n".join(_row(line) if line.startswith("|") else line for line in linked.split("\n"))


def _row(line: str) -> str:
    """In a table, a bar in code is escaped in the repository; MkDocs would show the escape."""
    return CODE.sub(lambda code: code[0].replace("\\|", "|"), line)
