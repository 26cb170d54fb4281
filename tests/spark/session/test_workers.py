"""A session whose workers lack this package is refused before anything runs, saying what to set."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.spark.joins.inputs import JoinInput
from punctuated.spark.joins.joined import SparkJoin
from punctuated.spark.session.workers import check_worker_python


def session(python: str, master: str = "local[2]", files: str = "") -> Any:
    context = SimpleNamespace(pythonExec=python, master=master, environment={})
    return SimpleNamespace(sparkContext=context, conf=SimpleNamespace(get=lambda name, default: files))


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python that has nothing installed."""
    python = tmp_path / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_a_python_without_the_package_is_refused(bare: str) -> None:
    with pytest.raises(pt.SessionError, match=r'has no package(.|\n)*os.environ\["PYSPARK_PYTHON"\] = sys.executable'):
        check_worker_python(session(bare))


def test_a_python_found_on_the_path_is_refused_too(bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(bare).parent))
    with pytest.raises(pt.SessionError, match=bare):
        check_worker_python(session("python3"))


def test_a_python_of_another_version_is_refused(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\necho 3 2 True\n")
    old.chmod(0o755)
    with pytest.raises(pt.SessionError, match=r"is Python 3\.2"):
        check_worker_python(session(str(old)))


def test_a_python_that_is_not_there_is_refused() -> None:
    with pytest.raises(pt.SessionError, match="does not exist"):
        check_worker_python(session("/nowhere/python3"))


def test_others_are_accepted(bare: str, tmp_path: Path) -> None:
    check_worker_python(session(sys.executable))
    same = tmp_path / "same"
    same.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    same.chmod(0o755)
    check_worker_python(session(str(same)))
    check_worker_python(session(bare, master="spark://host:7077"))  # workers' hosts are not here
    check_worker_python(session(bare, files="punctuated.zip"))  # the package travels with the query
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 1\n")
    silent.chmod(0o755)
    check_worker_python(session(str(silent)))


def test_configure_and_join_ask(bare: str) -> None:
    with pytest.raises(pt.SessionError, match="has no package"):
        pt.configure(session(bare))
    frame = SimpleNamespace(sparkSession=session(bare), isStreaming=False)
    left, right = (pt.stream(pa.table({"k": [1], "ts": [0]}), name=name, key="k", time="ts", window=5) for name in "AB")
    with pytest.raises(pt.SessionError, match="has no package"):
        SparkJoin([JoinInput(frame), JoinInput(frame)], pt.join(left, right).bound)  # type: ignore[arg-type]
