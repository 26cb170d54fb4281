"""Processes by their session: what a program starts in a session of its own can be told from everything else.

Process groups would not do: Spark's Python daemons leave the group of their JVM, but not its session.
"""

import contextlib
import os
import signal
import socket
import time
from pathlib import Path

from patience import LONGEST_S


def members(session: int) -> list[int]:
    """All processes of a session that have not ended."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in pids if _session(pid) == session]


def members_with(session: int, word: str) -> list[int]:
    """Those of a session whose command has this word in it."""
    return [pid for pid in members(session) if word in command(pid)]


def command(pid: int) -> str:
    """The command line of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def kill(pid: int) -> None:
    """End a process at once, if it has not ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def kill_session(session: int, within: float = LONGEST_S) -> None:
    """End all processes of a session at once, and those that they were about to start."""
    deadline = time.monotonic() + within
    while (left := members(session)) and time.monotonic() < deadline:
        for pid in left:
            kill(pid)
        time.sleep(0.05)
    if left:
        raise TimeoutError(f"processes {left} do not end")


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on just now."""
    with socket.socket() as asking:
        asking.bind(("127.0.0.1", 0))
        return int(asking.getsockname()[1])


def listens(port: int) -> bool:
    """Whether somebody listens on a port of 127.0.0.1."""
    with socket.socket() as asking:
        asking.settimeout(1)
        return asking.connect_ex(("127.0.0.1", port)) == 0


def _session(pid: int) -> int | None:
    """The session of a process that has not ended."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return None
    return None if state in "ZX" else int(session)
