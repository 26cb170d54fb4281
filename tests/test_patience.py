"""A test on Spark that failed only because the machine was busy gets another chance, with new fixtures."""

import subprocess
import sys
from pathlib import Path

import pytest

from patience import TOO_SLOW

CONFTEST = """
import pytest
from patience import run_patiently

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    return run_patiently(item, nextitem)
"""
TESTS = """
import pytest
starts, runs = [], []

@pytest.fixture(scope="module")
def query():
    starts.append(1)
    if len(starts) == 1:
        raise RuntimeError({message!r})
    return len(starts)

def test_a_query(query):
    runs.append(1)
    if len(runs) == 1:
        raise RuntimeError({message!r})
    assert (query, len(runs)) == (3, 2)

def test_another(query):
    assert query == 3
"""


@pytest.mark.parametrize(("message", "outcome"), [(TOO_SLOW, "2 passed"), ("something else", "1 error")])
def test_a_test_gets_another_chance(message: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS.format(message=message))
    options = ["-p", "no:cacheprovider", "-c", "/dev/null", f"--rootdir={tmp_path}", "-q", "-x"]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    environment = {"PYTHONPATH": str(Path(__file__).parent / "support"), "PATH": ""}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert outcome in ran.stdout, ran.stdout + ran.stderr
