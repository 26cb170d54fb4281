"""Virtual environments of the peers whose packages do not fit into ours, one for each in the folder `.bench`.

To write Parquet files, Flink needs a jar that its package lacks, which Maven fetches, and Hadoop's, which Spark has.
"""

import shutil
import subprocess
from pathlib import Path

import pyspark

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".bench"
PACKAGES = {"flink": "apache-flink", "pathway": "pathway", "datafusion": "datafusion"}
PYTHONS = ("python3.12", "python3.11", "python3.10")  # that all packages have wheels for; newest first


class NoEnvironment(Exception):
    """Why a peer cannot run here."""


def python_of(name: str, install: bool) -> Path:
    """The interpreter of a peer's environment, made first if `install` says so."""
    python = FOLDER / name / "bin" / "python"
    if has_package(python, PACKAGES[name]):
        return python
    if not install:
        raise NoEnvironment(f"no {PACKAGES[name]} in {FOLDER.name}/{name}; --install puts it there")
    make(name)
    return python


def parquet_jars(install: bool) -> list[Path]:
    """What Flink needs to write Parquet files."""
    folder = FOLDER / "flink" / "jars"
    if install and not list(folder.glob("*.jar")):
        look = "import importlib.metadata; print(importlib.metadata.version('apache-flink'), end='')"
        version = subprocess.check_output([str(python_of("flink", install)), "-c", look], text=True)
        artifact = f"org.apache.flink:flink-sql-parquet:{version}"
        copy = ["dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
        subprocess.run(["mvn", "--quiet", "--batch-mode", *copy], check=False)
    ours = sorted(folder.glob("*.jar"))
    if not ours:
        raise NoEnvironment(f"no jar of flink-sql-parquet in {FOLDER.name}/flink/jars; --install fetches it with mvn")
    return [*ours, *sorted(Path(pyspark.__file__).parent.glob("jars/hadoop-client-*.jar"))]


def has_package(python: Path, package: str) -> bool:
    """Whether the interpreter is there and its environment has the package."""
    look = f"import importlib.metadata; importlib.metadata.version({package!r})"
    return python.exists() and runs([str(python), "-c", look])


def make(name: str) -> None:
    """Make the environment and install the peer from the registry that pip is set up for."""
    python = find_python()
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")
    folder = FOLDER / name
    for command in (
        [python, "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", PACKAGES[name]],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoEnvironment(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")


def find_python() -> str:
    """An interpreter that runs: version managers leave names on the PATH that do not."""
    for name in PYTHONS:
        if shutil.which(name) and runs([name, "-c", "import venv, ensurepip"]):
            return name
    raise NoEnvironment(f"none of {', '.join(PYTHONS)} runs here")


def runs(command: list[str]) -> bool:
    """Whether a command succeeds."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
