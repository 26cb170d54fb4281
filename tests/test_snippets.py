"""Every python block of README.md and of the pages below docs runs, in a temporary folder.

The blocks of one page share one namespace and run in order. What a comment before a block says of it:

- `<!-- spark -->`: it needs Spark. The session that it builds is the one of all tests; it must not stop it.
- `<!-- warns UnboundedStateWarning -->`: it gives this warning.
- `<!-- program -->`: it can be pasted and run as it is: it runs by itself, in a process of its own.
- `<!-- no-run -->`: it is not run.

A block of text that follows a python block at once is what that prints; `...` in it stands for anything. On pages
without Spark, `spark` stands for a session that can only be listened to.
"""

import os
import re
import shutil
import subprocess
import sys
from codeop import CommandCompiler
from contextlib import AbstractContextManager, nullcontext
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import punctuated as pt
from page_snippets import NO_RUN, PAGES, PROGRAM, ROOT, SPARK, WARNS, Block, blocks, marked, pages_with

ON_SPARK = pages_with(SPARK)
IN_PROCESS = [page for page in pages_with(None, WARNS) if page not in ON_SPARK]


class Session:
    """What a snippet may do with `spark`: add listeners to it."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.streams = SimpleNamespace(addListener=self.listeners.append)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", IN_PROCESS, ids=name)
def test_snippets_of(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_snippets(page, monkeypatch, capsys, Session())


@pytest.mark.spark
@pytest.mark.parametrize("page", ON_SPARK, ids=name)
def test_snippets_on_spark_of(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], spark: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    run_snippets(page, monkeypatch, capsys, spark)
    assert not spark.streams.active


def run_snippets(page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], session: Any) -> None:
    """Run them in the folder at hand."""
    module = ModuleType("snippets")  # a real module, so that classes defined in a snippet can be pickled
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.__dict__["spark"] = session
    for block in marked(page.read_text(encoding="utf-8"), None, WARNS, SPARK):
        with warned_of(block):
            exec(compile(block.code, str(page), "exec"), module.__dict__)
        printed = capsys.readouterr().out
        assert block.shown is None or is_shown(block.shown, printed), f"{block.code.strip()}\n\nprints\n\n{printed}"


def warned_of(block: Block) -> AbstractContextManager[Any]:
    return nullcontext() if block.warning is None else pytest.warns(getattr(pt, block.warning))


def is_shown(shown: str, printed: str) -> bool:
    return OutputChecker().check_output(shown, printed, ELLIPSIS | NORMALIZE_WHITESPACE)


def test_the_listener_of_deploy_md_is_added_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session()
    run_snippets(ROOT / "docs" / "deploy.md", monkeypatch, capsys, session)
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
    (block,) = marked((ROOT / "README.md").read_text(encoding="utf-8"), PROGRAM)
    program = tmp_path / "quick_start.py"
    program.write_text(block.code, encoding="utf-8")
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


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "can be pasted" in page.read_text(encoding="utf-8")], ids=name
)
def test_blocks_can_be_pasted_into_a_prompt(page: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        assert left_open(block.code) == []


def left_open(code: str) -> list[str]:
    """The last lines, if a prompt still waits for more of their statement; an empty line ends an indented one."""
    compiler, waiting = CommandCompiler(), list[str]()
    for line in code.lstrip("\n").splitlines():
        waiting = [*waiting, line] if waiting or line else []
        is_whole = bool(waiting) and compiler("\n".join(waiting) + "\n" * (not line)) is not None
        waiting = [] if is_whole else waiting
    return waiting


def test_a_block_that_cannot_be_pasted_is_noticed() -> None:
    loop = "for i in range(2):\n    print(i)\n"
    assert left_open(f"{loop}\nprint(2)\n") == [] and left_open(loop) == loop.splitlines()
    with pytest.raises(SyntaxError):
        left_open(f"{loop}print(2)\n")


def test_programs_are_run() -> None:
    assert pages_with(PROGRAM) == [ROOT / "README.md"]  # by the test above


def test_every_page_is_read() -> None:
    assert len(PAGES) > 30 and len(ON_SPARK) > 1


def test_blocks_keep_their_order_and_their_lines() -> None:
    first, skipped, shell, last, program = (
        "```python\nx\n```\n\n```text\n1\n```",
        f"<!-- {NO_RUN} -->\n```python\nno\n```",
        "```sh\nls\n```",
        "<!-- warns CacheWarning -->\n```python\ny\n```\n\nText\n\n```text\n2\n```",
        f"<!-- {PROGRAM} -->\n```python\nz\n```",
    )
    text = "\n".join(["# Title", first, skipped, shell, last, program])
    assert list(blocks(text)) == [
        Block("\n" * 2 + "x\n", shown="1\n"),
        Block("\n" * 10 + "no\n", NO_RUN),
        Block("\n" * 17 + "y\n", WARNS, "CacheWarning"),
        Block("\n" * 27 + "z\n", PROGRAM),
    ]


def test_what_is_not_printed_is_noticed() -> None:
    assert is_shown("1 of ...\n", "1 of 200\n") and not is_shown("1\n", "2\n")
