"""The script that tries the wheel tries what we claim, and tells what fails. The wheel itself: `make wheel-test`."""

import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from loaded_script import load_script

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("try_wheel")


def test_it_tries_the_versions_that_we_claim(script: ModuleType) -> None:
    versions = [name.removeprefix("Programming Language :: Python :: ") for name in PROJECT["classifiers"]]
    assert [f"python{version}" for version in versions if version.startswith("3.")] == script.PYTHONS
    (oldest,) = (name for name in PROJECT["dependencies"] if name.startswith("pyspark"))
    assert oldest.startswith(f"pyspark>={script.SPARKS[0]},")


def test_a_failure_is_told_and_ends_the_script_with_1(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "build", lambda folder: folder / "punctuated.whl")
    monkeypatch.setattr(sys, "argv", ["try_wheel.py", "--python", "no-such-python", "--spark", "4.1", "4.2"])
    assert script.main() == 1
    told = capsys.readouterr().out
    assert "no-such-python, Spark 4.1: install failed" in told
    assert "| no-such-python | 4.2 | FAILED | - | - | - | - | 0 |" in told


def test_commands_do_not_see_the_repository(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    told = script.run([sys.executable, "-c", "import os; print('PYTHONPATH' in os.environ, os.getcwd())"], tmp_path)
    assert told.split() == ["False", str(tmp_path)]
    with pytest.raises(script.Failed, match="what it says"):
        script.run([sys.executable, "-c", "import sys; sys.exit('what it says')"], tmp_path)
