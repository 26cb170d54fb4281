"""Checks the change at hand: lint, types, import contracts, and the tests of what has changed since a commit.

    python scripts/check_change.py [SINCE]

Without an argument, changes are those against `main` where a branch has left it, and those that are not committed. The
tests of a module are those of the same name in the folder of the same name; where a module has none, all tests of its
folder run. Tests that start Spark run only where they have changed themselves.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PACKAGES = {"src/punctuated": "tests", "papers": "tests/papers"}
ALWAYS = ["tests/test_exports.py"]
WORKERS = "2"


def git(*arguments: str) -> list[str]:
    """The lines that git prints; none where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed_files(since: str | None) -> list[Path]:
    """Python files that differ from a commit, and those that git does not know yet."""
    base = [since] if since is not None else git("merge-base", "HEAD", "main") or ["HEAD"]
    names = {*git("diff", "--name-only", base[0]), *git("ls-files", "--others", "--exclude-standard")}
    found = (ROOT / name for name in sorted(names) if name.endswith(".py"))
    return [path.relative_to(ROOT) for path in found if path.exists()]


def tests_of(path: Path) -> Iterator[str]:
    """The tests to run for a file that has changed."""
    if path.parts[0] == "tests":
        if path.name.startswith("test_"):
            yield str(path)
        return
    for package, tests in PACKAGES.items():
        if path.is_relative_to(package):
            yield str(path)  # its examples
            folder = Path(tests) / path.parent.relative_to(package)
            own = folder / f"test_{path.stem}.py"
            if (ROOT / own).exists():
                yield str(own)
            elif folder != Path(tests) and "spark" not in folder.parts and (ROOT / folder).is_dir():
                yield str(folder)


def run(name: str, *command: str) -> bool:
    """Run a command; prints what it says only if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
    if done.returncode:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def main() -> None:
    """Run all checks, the quick ones first; fails if any of them does."""
    changed = changed_files(sys.argv[1] if len(sys.argv) > 1 else None)
    tests = list(dict.fromkeys([*(test for path in changed for test in tests_of(path)), *ALWAYS]))
    print(f"{len(changed)} files have changed; their tests: {' '.join(tests)}", flush=True)
    steps = (
        ("style", str(BIN / "ruff"), "check"),
        ("format", str(BIN / "ruff"), "format", "--check"),
        ("import contracts", str(BIN / "lint-imports"), "--no-logo"),
        ("types", str(BIN / "mypy")),
        ("tests", sys.executable, "-m", "pytest", "-q", "-n", WORKERS, "--dist", "worksteal", *tests),
    )
    results = [run(*step) for step in steps]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
