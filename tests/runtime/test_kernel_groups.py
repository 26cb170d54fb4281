"""Once its kernels are loaded, a join compiles nothing more: each kind of join and each aggregate in a new process.

Machine code is looked for in an empty folder, so that a kernel that nobody loads cannot hide behind another test.
Compiling a whole loop takes up to a minute: these cases run with HYPOTHESIS_PROFILE=ten.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from punctuated.runtime.kernel_groups import SUPPORT, Kernels

SCRIPT = Path(__file__).parents[1] / "support" / "fresh_kernels.py"
ROOT = SCRIPT.parents[2]
LOOPS = [each.name for each in (*SUPPORT, *(each for each in Kernels if each.goes_beyond_memory))]
is_thorough = os.environ.get("HYPOTHESIS_PROFILE", "default") != "default"


def compiled_too_late(what: str, folder: Path) -> str:
    folder.chmod(0o700)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, SCRIPT, what], env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    return done.stdout.strip()


def test_aggregates_compile_nothing_after_their_kernels_were_loaded(tmp_path: Path) -> None:
    assert compiled_too_late("aggregates", tmp_path) == ""


@pytest.mark.skipif(not is_thorough, reason="compiles for many seconds")
@pytest.mark.parametrize("what", ["exchange", *LOOPS])
def test_joins_compile_nothing_after_their_kernels_were_loaded(what: str, tmp_path: Path) -> None:
    assert compiled_too_late(what, tmp_path) == ""
