"""How much memory the processes of this benchmark have used: Spark's Python workers, and its JVM."""

import os
import re
from pathlib import Path

_WORKER, _JVM = b"pyspark.daemon", b"SparkSubmit"  # what their command lines hold
_ASKED = (("worker_mb", _WORKER, "VmHWM"), ("worker_addresses_mb", _WORKER, "VmPeak"), ("jvm_mb", _JVM, "VmHWM"))


def peak_mb() -> dict[str, int]:
    """The most that each worker, and the JVM, has had resident, and a worker's most addresses, which Spark can limit.

    Only of those that are there still.
    """
    peaks = {name: 0 for name, _, _ in _ASKED}
    for pid in descendants(os.getpid()):
        try:
            command, status = Path(f"/proc/{pid}/cmdline").read_bytes(), Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue  # it has ended
        for name, sign, field in _ASKED:
            found = re.search(rf"{field}:\s+(\d+) kB", status)
            if found and sign in command:
                peaks[name] = max(peaks[name], int(found[1]) // 1024)
    return peaks


def descendants(pid: int) -> list[int]:
    """Processes that were started by this one, or by those."""
    try:
        lists = [task / "children" for task in Path(f"/proc/{pid}/task").iterdir()]
        children = [int(child) for each in lists for child in each.read_text().split()]
    except OSError:
        return []
    return [*children, *(each for child in children for each in descendants(child))]
