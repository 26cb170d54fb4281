"""Builds the wheel and tries it in empty environments outside the repository, one for each pair of Python and Spark.

python scripts/try_wheel.py                                       all that we claim: minutes for each pair
python scripts/try_wheel.py --python python3.12 --spark 4.2 4.3   some of them

Pythons are names on the PATH or paths. In each environment the `punctuated` command tells its version and runs the demo
on Spark, a program joins two tables, and mypy reads the types of the package. An environment is deleted after use; pip
keeps what it has fetched in its own cache. The exit code is 1 if anything has failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ["python3.11", "python3.12", "python3.13"]
SPARKS = ["4.1", "4.2", "4.3"]
NOT_INHERITED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
LONGEST_S = 900  # of a step
SHOWN = 20  # last lines of a step that has failed

JOIN = """
import pyarrow as pa
import punctuated as pt

table = pa.table({"k": [1, 2], "t": [0, 1]})
joined = pt.join(*(pt.stream(table, name=name, key="k", time="t", window="1 second") for name in "AB"))
assert joined.results["k"].to_pylist() == [1, 2]
"""

TYPED = """
import pyarrow as pa
import punctuated as pt


def plan(table: pa.Table) -> str:
    a, b = (pt.stream(table, name=name, key="k", time="t", window="1 second") for name in "AB")
    joined: pt.Join = pt.join(a, b)
    return joined.explain()
"""

WRONG = """
import punctuated as pt

pt.configure(spark=1, no_such_argument=2)
"""


class Failed(Exception):
    """A step that did not do what it should; the message is what it printed."""


class Environment(NamedTuple):
    """A virtual environment in a folder of its own, and nothing of this repository in sight."""

    folder: Path

    def run(self, *command: str, variables: Mapping[str, str] | None = None) -> str:
        """What a command of the environment prints; `Failed` if its exit code is not 0."""
        program = self.folder / "env" / "bin" / command[0]
        return run([str(program), *command[1:]], self.folder, variables)

    def program(self, name: str, text: str) -> str:
        """A file with this program."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name


def run(command: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """What a command prints, in a folder and without what the caller's environment says of Python and Spark."""
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env=inherited | dict(variables or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(str(error)) from error
    if ran.returncode != 0:
        raise Failed(ran.stdout)
    return ran.stdout


# What is tried in an environment. Each check gives what is shown of it in the table.


def tell_version(environment: Environment) -> str:
    """The command is there and knows what it runs on."""
    told = dict(line.split() for line in environment.run("punctuated", "version").splitlines())
    return f"{told['python']}, {told['pyspark']}"


def run_demo(environment: Environment) -> str:
    """The query of the demo on Spark; machine code goes where it is deleted with the environment."""
    cache = {"XDG_CACHE_HOME": str(environment.folder / "cache")}
    arguments = ("demo", "--auctions", "500", "--batches", "4", "--out", "out")
    if "the same number of results" not in (told := environment.run("punctuated", *arguments, variables=cache)):
        raise Failed(told)
    return "ok"


def join_tables(environment: Environment) -> str:
    """A join of two tables, in a process of its own."""
    cache = {"XDG_CACHE_HOME": str(environment.folder / "cache")}
    environment.run("python", environment.program("join.py", JOIN), variables=cache)
    return "ok"


def read_types(environment: Environment) -> str:
    """Mypy knows the package's types: it accepts what is right and refuses what is wrong."""
    mypy = ("mypy", "--strict", "--ignore-missing-imports")
    environment.run(*mypy, environment.program("typed.py", TYPED))
    try:
        told = environment.run(*mypy, environment.program("wrong.py", WRONG))
    except Failed as refused:
        if "no_such_argument" in str(refused):
            return "ok"
        raise
    raise Failed(f"mypy accepts an argument that does not exist: the wheel has no types\n{told}")


CHECKS: dict[str, Callable[[Environment], str]] = {
    "version": tell_version,
    "demo": run_demo,
    "join": join_tables,
    "types": read_types,
}


def build(folder: Path) -> Path:
    """The wheel of this repository, which must say that it is typed."""
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)], folder)
    (wheel,) = folder.glob("punctuated-*.whl")
    if "punctuated/py.typed" not in ZipFile(wheel).namelist():
        raise Failed(f"{wheel.name} has no punctuated/py.typed: type checkers would not read its types")
    return wheel


def try_pair(wheel: Path, python: str, spark: str) -> dict[str, str]:
    """The outcome of each check with this Python and the newest Spark of this minor version."""
    began, outcome = time.monotonic(), dict.fromkeys(["install", *CHECKS], "-")
    with tempfile.TemporaryDirectory(prefix="punctuated-wheel-") as name:
        environment = Environment(Path(name))
        step = "install"
        try:
            install(environment, wheel, python, spark)
            outcome["install"] = "ok"
            for step, check in CHECKS.items():
                outcome[step] = check(environment)
        except Failed as failed:
            outcome[step] = "FAILED"
            print(f"{python}, Spark {spark}: {step} failed\n" + "\n".join(str(failed).splitlines()[-SHOWN:]))
    return {"python": Path(python).name, "spark": spark} | outcome | {"seconds": f"{time.monotonic() - began:.0f}"}


def install(environment: Environment, wheel: Path, python: str, spark: str) -> None:
    """An empty environment, then the wheel with what the demo draws with, that Spark, and mypy."""
    run([python, "-m", "venv", "env"], environment.folder)
    pip = ("python", "-m", "pip", "--quiet", "--disable-pip-version-check")
    environment.run(*pip, "install", f"{wheel}[plot]", f"pyspark=={spark}.*", "mypy")
    environment.run(*pip, "check")


def table(rows: list[dict[str, str]]) -> str:
    """Rows with the same columns, as a table of Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    """Try every pair that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", nargs="+", default=PYTHONS, help="interpreters, by name or path")
    parser.add_argument("--spark", nargs="+", default=SPARKS, help="minor versions of PySpark, such as 4.2")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="punctuated-wheel-") as folder:
        try:
            wheel = build(Path(folder))
        except Failed as failed:
            print(f"the wheel could not be built\n{failed}")
            return 1
        for python in given.python:
            for spark in given.spark:
                print(f"trying {python} with Spark {spark}", flush=True)
                rows.append(try_pair(wheel, python, spark))
    print(table(rows))
    return int(any("FAILED" in row.values() for row in rows))


if __name__ == "__main__":
    sys.exit(main())
