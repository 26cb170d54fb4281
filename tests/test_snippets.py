"""Every python block of README.md and docs/*.md runs, in a temporary folder.

The blocks of one file share one namespace and run in order. `<!-- no-run -->` before a block skips it. One after
`<!-- program -->` can be pasted and run as it is: it runs by itself, in a process of its own, and may start Spark. In
others `spark` stands for a session that can only be listened to.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import punctuated as pt

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python\b[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
NO_RUN, PROGRAM = "<!-- no-run -->", "<!-- program -->"


def blocks(text: str) -> Iterator[tuple[str | None, str]]:
    """The mark before each block, and the block, moved down to its own line so that a traceback points there."""
    for fence in FENCE.finditer(text):
        before = text[: fence.start()].rstrip()
        mark = next((mark for mark in (NO_RUN, PROGRAM) if before.endswith(mark)), None)
        yield mark, "\n" * text.count("\n", 0, fence.start(1)) + fence[1]


def snippets(text: str, mark: str | None = None) -> Iterator[str]:
    """The blocks with this mark; without, those that share a namespace."""
    return (code for found, code in blocks(text) if found == mark)


def files_with_snippets(mark: str | None = None) -> list[Path]:
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [path for path in candidates if path.exists() and any(snippets(path.read_text(encoding="utf-8"), mark))]


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


@pytest.mark.spark
def test_the_spark_quick_start_gives_what_tables_give(tmp_path: Path) -> None:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer; scripts/ensure_java.sh says how to get it")
    (code,) = snippets((ROOT / "README.md").read_text(encoding="utf-8"), PROGRAM)
    program = tmp_path / "quick_start.py"
    program.write_text(code, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    ran = subprocess.run(
        [sys.executable, program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        env=environment | {"SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(tmp_path)},
    )
    assert ran.returncode == 0, ran.stderr
    shown = [re.findall(r"[\w.]+", line) for line in ran.stdout.splitlines() if line.startswith("|")]
    opened, offered = pt.streams.auctions(500, seed=1)
    auctions = pt.stream(opened, name="A", key="item_id", time="opened_at", window="12 hours", punctuations=pt.unique())
    bids = pt.stream(offered, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed"))
    counts = pt.join(auctions, bids).group_by("item_id").agg(n=pt.count(), best=pt.max("bid_price"))
    first = counts.sort_by("item_id").slice(0, 5).to_pylist()
    assert shown == [["item_id", "n", "best"], *([str(value) for value in row.values()] for row in first)]


def test_programs_are_run() -> None:
    assert files_with_snippets(PROGRAM) == [ROOT / "README.md"]  # by the test above


def test_blocks_run_in_order_and_keep_their_line_numbers() -> None:
    first, skipped, shell, last = (
        "```python\nx\n```",
        f"{NO_RUN}\n\n```python\nno\n```",
        "```sh\nls\n```",
        "```python\ny\n```",
    )
    program = f"{PROGRAM}\n```python\nz\n```"
    text = "\n".join(["# Title", first, skipped, shell, last, program])
    assert list(snippets(text)) == ["\n" * 2 + "x\n", "\n" * 13 + "y\n"]
    assert list(snippets(text, PROGRAM)) == ["\n" * 17 + "z\n"]
