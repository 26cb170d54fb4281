"""If the addresses of a process are limited, Arrow must not reserve more of them than it uses.

Arrow's usual allocator reserves a gigabyte at its first allocation. `spark.executor.pyspark.memory` limits the
addresses of Python workers, in use or not: of 2 GB, one would be lost. Arrow chooses its allocator when it is imported,
so this module must be imported before it.
"""

import os
import sys

CHOICE = "ARROW_DEFAULT_MEMORY_POOL"  # read by Arrow; if a user has set it, it stays


def spare_addresses() -> None:
    """Let Arrow take memory from the system as it needs it, if addresses are limited."""
    if are_limited():
        os.environ.setdefault(CHOICE, "system")


def are_limited() -> bool:
    """Whether this process has a limit of addresses, such as one by `ulimit -v`."""
    if sys.platform == "win32":
        return False
    import resource

    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


spare_addresses()
