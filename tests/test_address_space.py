"""Arrow in a process with a limit of addresses, such as a Python worker of Spark with one."""

import resource
import subprocess
import sys

import pytest

from punctuated.address_space import CHOICE

ASK = """
import resource, sys
if int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
import punctuated
import pyarrow as pa
before = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
whole = pa.array(range(1000))
after = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
print(pa.default_memory_pool().backend_name, after - before)
"""
LIMIT = 2 << 30


def asked(monkeypatch: pytest.MonkeyPatch, limit: int, choice: str | None = None) -> tuple[str, int]:
    """The allocator of Arrow in a new process, and how many addresses its first array takes."""
    monkeypatch.delenv(CHOICE, raising=False)
    if choice is not None:
        monkeypatch.setenv(CHOICE, choice)
    said = subprocess.run([sys.executable, "-c", ASK, str(limit)], capture_output=True, text=True, check=True).stdout
    allocator, taken = said.split()
    return allocator, int(taken)


def test_arrow_reserves_nothing_where_addresses_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    allocator, taken = asked(monkeypatch, LIMIT)
    assert allocator == "system"
    assert taken < 256 << 20  # libraries that are loaded meanwhile


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY, reason="this process has a limit itself"
)
def test_without_a_limit_the_allocator_is_arrows_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, 0)[0] != "system"


def test_who_has_chosen_an_allocator_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, LIMIT, "jemalloc")[0] == "jemalloc"
