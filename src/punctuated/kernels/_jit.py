"""The one place that says how kernels are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from punctuated.kernels._code_cache import code_cache

F = TypeVar("F", bound=Callable[..., object])


def _compiled(function: F, **options: bool) -> F:
    compile_with: Any = numba.njit
    dispatcher = compile_with(nogil=True, error_model="numpy", **options)(function)
    dispatcher._cache = code_cache(function)  # in the place of numba's own, which trusts any folder
    return cast(F, dispatcher)


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
