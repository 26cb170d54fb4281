"""Every python block of README.md and docs/*.md runs, in a temporary folder.

The blocks of one file share one namespace and run in order. `<!-- no-run -->` before a block skips it. `spark` stands
for a session that can only be listened to.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

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


class Session:
    """What a snippet may do with `spark`: add listeners to it."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.streams = SimpleNamespace(addListener=self.listeners.append)


@pytest.mark.parametrize("path", files_with_snippets(), ids=lambda path: str(path.relative_to(ROOT)))
def test_snippets_of(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_snippets(path, monkeypatch)


def run_snippets(path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Run them in the folder at hand."""
    module = ModuleType("snippets")  # a real module, so that classes defined in a snippet can be pickled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.__dict__["spark"] = session = Session()
    for code in snippets(path.read_text(encoding="utf-8")):
        exec(compile(code, str(path), "exec"), module.__dict__)
    return session


def test_the_listener_of_deploy_md_is_added_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = run_snippets(ROOT / "docs" / "deploy.md", monkeypatch)
    observed = {"punctuated": {"buckets": ['{"bucket": 0, "results": 5}']}}
    progress = {"id": "q", "batchId": 0, "observedMetrics": observed}
    (listener,) = session.listeners
    listener.onQueryProgress(SimpleNamespace(progress=progress))
    assert "punctuated_results_total" in (tmp_path / "punctuated.prom").read_text(encoding="utf-8")
    assert '"results": 5' in (tmp_path / "metrics.jsonl").read_text(encoding="utf-8")


def test_blocks_run_in_order_and_keep_their_line_numbers() -> None:
    first, skipped, shell, last = (
        "```python\nx\n```",
        f"{NO_RUN}\n\n```python\nno\n```",
        "```sh\nls\n```",
        "```python\ny\n```",
    )
    text = "\n".join(["# Title", first, skipped, shell, last])
    assert list(snippets(text)) == ["\n" * 2 + "x\n", "\n" * 13 + "y\n"]
