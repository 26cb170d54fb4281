"""Compiles kernels once per host: the first process that needs a group compiles it, the others wait and load it.

Otherwise all workers of a host would compile the same kernels at the same time in their first task. Processes that need
several groups share the work: each takes a group that no other process is compiling. A file for each group says that it
is compiled; a lock on a file beside it says that a process is at work.

    python -m punctuated.runtime.warm_up NAME…     compiles the groups of these names, see `kernel_groups.Kernels`
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from punctuated.kernels.code_cache import code_folder
from punctuated.runtime.kernel_groups import Kernels, load_kernels
from punctuated.storage.private_folder import do_without

Needed = tuple[Kernels, ...]


@cache
def compile_all(needed: Needed) -> None:
    """Make sure that these kernels are compiled on this host.

    Groups that other processes are compiling are left to them; this call waits for these. If machine code cannot be
    kept, nothing is done: each process then compiles what it needs when it needs it.
    """
    for waits in (False, True):
        for kernels in needed:
            _compile(kernels, waits)


def compile_beside(needed: Needed) -> None:
    """Compile kernels in child processes, one per core, and wait for them. If they fail, only time is lost.

    Groups that another process is compiling already are left to it.
    """
    free = [each.name for each in needed if _is_free(each)]
    command = [sys.executable, "-m", "punctuated.runtime.warm_up", *free]
    beside = []
    for _ in range(min(len(free), os.cpu_count() or 1)):
        with suppress(OSError):
            beside.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for process in beside:
        process.wait()


def is_compiled(kernels: Kernels) -> bool:
    """Whether these kernels are compiled on this host, or machine code cannot be kept here."""
    ready = _ready(kernels)
    return ready is None or ready.exists()


def _ready(kernels: Kernels) -> Path | None:
    """The file that says that these kernels are compiled; None if machine code cannot be kept."""
    folder = code_folder()
    # Numba keeps machine code for each path of an installation.
    installed = hashlib.sha256(str(Path(__file__).parent).encode()).hexdigest()[:16]
    return None if folder is None else folder / f"{installed}{kernels.value}.ready"


def _compile(kernels: Kernels, waits: bool) -> None:
    ready = _ready(kernels)
    if ready is None or ready.exists():
        return
    if kernels.builds_on:
        compile_all(kernels.builds_on)
    try:
        lock = ready.with_suffix(".lock").open("w")
    except OSError as trouble:
        do_without("machine code cannot be kept for other processes", trouble)
        return
    with lock:
        if _take(lock, waits) and not ready.exists():
            load_kernels(kernels)
            with suppress(OSError):  # the disk may be full; the next process looks again
                ready.touch()


def _is_free(kernels: Kernels) -> bool:
    """Whether these kernels are not compiled, and no process is compiling them."""
    ready = _ready(kernels)
    if ready is None or ready.exists():
        return False
    try:
        with ready.with_suffix(".lock").open("w") as lock:
            return _take(lock, waits=False)
    except OSError:
        return False


def _take(lock: IO[str], waits: bool) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


if __name__ == "__main__":
    os.nice(10)  # Spark may start at the same time, and waits only ten seconds for some of its processes
    compile_all(tuple(Kernels[name] for name in sys.argv[1:]))
