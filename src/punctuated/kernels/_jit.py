"""The one place that says how kernels are compiled and where the machine code is cached.

Numba notices a changed source file but not a changed callee in another file, so the cache directory carries a
fingerprint of all kernel sources, and of the constants that they take from elsewhere. One directory per user serves
every process of a host.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from punctuated.model import eternity

F = TypeVar("F", bound=Callable[..., object])


def _fingerprint() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in [*sorted(Path(__file__).parent.glob("*.py")), Path(eternity.__file__)]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> str:
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    directory = root / "punctuated" / f"kernels-{_fingerprint()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        directory = Path(tempfile.gettempdir()) / f"punctuated-{os.getuid()}" / directory.name
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return str(directory)


CACHE_DIRECTORY = _cache_directory()


def _compiled(function: F, **options: bool) -> F:
    config: Any = numba.config
    compile_with: Any = numba.njit
    previous = config.CACHE_DIR
    config.CACHE_DIR = previous or CACHE_DIRECTORY
    try:
        return cast(F, compile_with(cache=True, nogil=True, error_model="numpy", **options)(function))
    finally:
        config.CACHE_DIR = previous


def kernel(function: F) -> F:
    """Compile a function that Python calls and that makes arrays: no GIL, cached on disk, indices unchecked."""
    return _compiled(function)


def in_place(function: F) -> F:
    """Compile a function that Python calls and that only works on arrays it is given: without reference counts.

    The counts of a state's many arrays would take ten times longer than the work on a tuple.
    """
    return _compiled(function, _nrt=False)


def part(function: F) -> F:
    """Compile a function that only kernels call: in place, and without the wrapper for Python, slow to compile.

    Numba hands `forceinline` on to callees that do not say anything else, and loops of many pages run at a speed that
    depends on where they happen to be loaded (docs/decisions/009).
    """
    return _compiled(function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=False)


def inlined(function: F) -> F:
    """A part on the hot path: its code stands where it is called, since passing many arrays outweighs the work."""
    return _compiled(function, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
