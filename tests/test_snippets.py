"""Every python block of README.md and docs/*.md runs, in a temporary folder.

The blocks of one file share one namespace and run in order. `<!-- no-run -->` before a block skips it.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python\b[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
NO_RUN = "<!-- no-run -->"


def snippets(text: str) -> Iterator[str]:
    """The blocks to run, each moved down to its own line of the file so that a traceback points there."""
    for fence in FENCE.finditer(text):
        if not text[: fence.start()].rstrip().endswith(NO_RUN):
            yield "\n" * text.count("\n", 0, fence.start(1)) + fence[1]


def files_with_snippets() -> list[Path]:
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [path for path in candidates if path.exists() and any(snippets(path.read_text(encoding="utf-8")))]


@pytest.mark.parametrize("path", files_with_snippets(), ids=lambda path: str(path.relative_to(ROOT)))
def test_snippets_of(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("snippets")  # a real module, so that classes defined in a snippet can be pickled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for code in snippets(path.read_text(encoding="utf-8")):
        exec(compile(code, str(path), "exec"), module.__dict__)


def test_blocks_run_in_order_and_keep_their_line_numbers() -> None:
    first, skipped, shell, last = (
        "```python\nx\n```",
        f"{NO_RUN}\n\n```python\nno\n```",
        "```sh\nls\n```",
        "```python\ny\n```",
    )
    text = "\n".join(["# Title", first, skipped, shell, last])
    assert list(snippets(text)) == ["\n" * 2 + "x\n", "\n" * 13 + "y\n"]
