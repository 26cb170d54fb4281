"""What docs/many_streams.md shows of the examples is what they print."""

import re
from pathlib import Path

import pytest

from example_harness import printed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "many_streams.md"
SHOWN = re.compile(r"^```text\n\$ python examples/(\w+)\.py ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNS = SHOWN.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("script", "argument", "shown"), RUNS, ids=[f"{run[0]} {run[1]}".strip() for run in RUNS])
def test_what_is_shown_is_what_is_printed(script: str, argument: str, shown: str) -> None:
    assert printed(script, *argument.split()) == shown
