"""Virtual environments of the peers whose packages do not fit into ours, one for each in the folder `.bench`."""

import shutil
import subprocess
from pathlib import Path

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
