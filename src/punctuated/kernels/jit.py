"""How functions are compiled that only other kernels call: without machine code of their own.

Numba optimises every function by itself and makes machine code of it, though what is called, and above all what is
inlined, becomes code of its callers and is optimised again with each of them. Here a part is only made ready to be
linked into them, which takes a third off the time to compile.
"""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numba
import numba.core.codegen
import numba.core.compiler
import numba.extending

from punctuated.kernels.code_cache import code_cache

_codegen: Any = numba.core.codegen  # some versions of numba have types, some have not
_compiler: Any = numba.core.compiler
F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
R = TypeVar("R")
_extending: Any = numba.extending  # some versions of numba have types, some have not


class _PartCode(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a part: it is never loaded."""

    def _optimize_final_module(self) -> None:
        """Whoever links it does that."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is none."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Who is told where the function's environment is: of what is not loaded there is none."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Nothing refers to it."""


class PartCompiler(_compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, with another place for what it makes."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function of Python."""
        self.state.library = _PartCode(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


# The one place that says how kernels are compiled.


_PART = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}


_INLINED = {**_PART, "error_model": "numpy", "forceinline": True}


def _compiled(function: F, **options: Any) -> Any:
    compile_with: Any = numba.njit
    return compile_with(nogil=True, error_model="numpy", **options)(function)


def _called_by_python(function: F, **options: bool) -> F:
    dispatcher = _compiled(function, **options)
    dispatcher._cache = code_cache(function)  # in the place of numba's own, which trusts any folder
    return cast(F, dispatcher)


def kernel(function: F) -> F:
    """Compile a function that Python calls and that makes arrays: no GIL, cached on disk, indices unchecked."""
    return _called_by_python(function)


def in_place(function: F) -> F:
    """Compile a function that Python calls and that only works on arrays it is given: without reference counts.

    The counts of a state's many arrays would take ten times longer than the work on a tuple.
    """
    return _called_by_python(function, _nrt=False)


def part(function: F) -> F:
    """Compile a function that only kernels call: in place, and as a part of their code.

    Numba hands `forceinline` on to callees that do not say anything else, and loops of many pages run at a speed that
    depends on where they happen to be loaded (docs/decisions/009).
    """
    return cast(F, _compiled(function, **_PART, forceinline=False))


def inlined(function: F) -> F:
    """A part on the hot path: its code stands where it is called, since passing many arrays outweighs the work."""
    return cast(F, _compiled(function, **_PART, forceinline=True))


def formula(function: F) -> F:
    """A short calculation that Python and kernels share: it stays a function of Python, and kernels have it inlined."""
    return cast(F, _extending.register_jitable(**_INLINED)(function))


class ChosenByState(Generic[P, R]):
    """A function that kernels call by one name, and that is another one for every type of state.

    Which one it is the compiler knows, by the type of the first argument, so the choice costs nothing. A module that is
    imported later may add the function for a state of its own, as long as nothing was compiled for that before.
    """

    def __init__(self, declared: Callable[P, R]) -> None:
        self.__name__, self.__doc__ = declared.__name__, declared.__doc__
        self._functions: dict[type, Callable[..., Any]] = {}
        _extending.overload(self, jit_options=_INLINED, strict=False)(self._choose)

    def of(self, state_type: type) -> Callable[[F], F]:
        """Decorates the function for one type of state, which says itself whether it is inlined or called."""

        def add(function: F) -> F:
            assert state_type not in self._functions, f"{self.__name__} of {state_type.__name__} is there already"
            self._functions[state_type] = function
            return function

        return add

    def _choose(self, state: Any, *_: Any) -> Callable[..., Any]:
        """What numba compiles for these types of arguments."""
        chosen = self._function(state.instance_class)
        return lambda state, *arguments: chosen(state, *arguments)

    def _function(self, state_type: type) -> Callable[..., Any]:
        if state_type not in self._functions:
            raise TypeError(f"there is no {self.__name__} of {state_type.__name__}: is its module imported?")
        return self._functions[state_type]

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        return cast(R, self._function(type(arguments[0]))(*arguments, **named))


def chosen_by_state(declared: Callable[P, R]) -> ChosenByState[P, R]:
    """Decorates a function without a body, which says what the functions of all states have in common."""
    return ChosenByState(declared)
