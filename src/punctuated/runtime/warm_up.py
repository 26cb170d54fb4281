"""Kernels are compiled once per host: the first process compiles what a join needs, the others wait and load it.

Without this, all workers of a host would compile the same kernels at the same time in their first task. Processes that
come at the same time share the work: each takes a kind that no other one is compiling.
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
    """Make sure that these kernels are compiled on this host: compile what no other process does, wait for the rest.

    If machine code cannot be kept, each process compiles what it needs when it needs it.
    """
    for waits in (False, True):
        for kernels in needed:
            _compile(kernels, waits)


def compile_beside(needed: Needed) -> None:
    """The same in other processes, one per core; waits for them. If they fail, only time is lost.

    Kernels that another process is compiling already are left to it.
    """
    free = [each.name for each in needed if _is_free(each)]
    command = [sys.executable, "-m", "punctuated.runtime.compile_kernels", *free]
    beside = []
    for _ in range(min(len(free), os.cpu_count() or 1)):
        with suppress(OSError):
            beside.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for process in beside:
        process.wait()


def is_compiled(kernels: Kernels) -> bool:
    """Whether these kernels are compiled, or cannot be kept."""
    ready = _ready(kernels)
    return ready is None or ready.exists()


def _ready(kernels: Kernels) -> Path | None:
    """The file that says that they are compiled."""
    folder = code_folder()
    installed = hashlib.sha256(str(Path(__file__).parent).encode()).hexdigest()[:16]  # numba's cache depends on it
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
