"""How much memory Spark allows a Python worker."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TypeVar

from pyspark import TaskContext
from pyspark.sql import SparkSession

from punctuated.errors import SessionError
from punctuated.runtime.kernel_groups import Kernels
from punctuated.runtime.prefetch import interleave
from punctuated.runtime.warm_up import compile_beside, is_compiled
from punctuated.spark.session.kind import is_connect

VARIABLE = "PYSPARK_EXECUTOR_MEMORY_MB"  # set by Spark, from `spark.executor.pyspark.memory` and the cores
T = TypeVar("T")
_ASK = "import importlib.util as u, sys; print(*sys.version_info[:2], u.find_spec('punctuated') is not None)"
_PATIENCE_S = 60


def worker_limit() -> int | None:
    """Bytes; None without a limit.

    >>> worker_limit() is None
    True
    """
    megabytes = int(os.environ.get(VARIABLE, "-1"))
    return megabytes << 20 if megabytes > 0 else None


# Reading, joining and writing at the same time, in tasks that have several cores.


def overlapped(items: Iterator[T]) -> Iterator[T]:
    """The same items; with more than one core (`spark.task.cpus`) a few are made before they are asked for."""
    context = TaskContext.get()
    return items if context is None or context.cpus() < 2 else interleave([items])


# Whether the Python of Spark's workers has this package: without it, the first batch fails with a Java trace.
#
# Workers run what `PYSPARK_PYTHON` named when the session was started, by default `python3`. If the environment is
# not active, that is another Python. On a cluster it is a Python of the hosts, which is not known here.


def check_worker_python(spark: SparkSession) -> None:
    """Raise if workers of this machine could not import this package, with the line to add."""
    if not _is_local(spark) or spark.conf.get("spark.submit.pyFiles", ""):
        return
    context = spark.sparkContext
    python = context.pythonExec
    path = context.environment.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    fault = _fault(python, path)
    if fault is not None:
        raise SessionError(
            f"Spark's Python workers run {python!r}, {fault}; let them run this one, before the session is started:\n"
            '    os.environ["PYSPARK_PYTHON"] = sys.executable\n'
            f"or set the variable outside: PYSPARK_PYTHON={sys.executable}"
        )


def compile_for_workers(spark: SparkSession, needed: tuple[Kernels, ...]) -> None:
    """Begin to compile what workers of this machine will need, while the query is still planned."""
    if _is_local(spark) and not all(map(is_compiled, needed)):
        Thread(target=compile_beside, args=(needed,), daemon=True).start()


def _is_local(spark: SparkSession) -> bool:
    """Whether workers are processes of this machine; a server of Spark Connect has no public way to say so."""
    return not is_connect(spark) and (spark.sparkContext.master or "").startswith("local")


@cache
def _fault(python: str, path: str) -> str | None:
    """What is wrong with this interpreter; asked once, since it takes a moment."""
    found = shutil.which(python)
    if found is None:
        return "which does not exist"
    if _is_this(Path(found)):
        return None
    try:
        answer = subprocess.run(
            [found, "-c", _ASK],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=True,
            env=os.environ | {"PYTHONPATH": path},
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return None  # a wrapper that does not know -c: Spark will report it
    *version, has_package = answer or ["?", "?", "True"]
    ours = [str(number) for number in sys.version_info[:2]]
    if has_package == "False":
        return f"which is {found} and has no package 'punctuated' (this Python is {sys.executable})"
    return None if version == ours else f"which is Python {'.'.join(version)} (this one is {'.'.join(ours)})"


def _is_this(python: Path) -> bool:
    """Whether it is exactly the interpreter that runs here; links are followed, environments are kept apart."""
    here = Path(sys.executable)
    return python.parent == here.parent and python.resolve() == here.resolve()
