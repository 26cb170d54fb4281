"""How kernels are compiled: the decorators `kernel`, `in_place`, `subroutine`, `inlined`, `formula`, `chosen_by_state`.

Numba optimises every function by itself and makes machine code of it, though what is called, and above all what is
inlined, becomes code of its callers and is optimised again with each of them. Here a function that only kernels call is
made ready to be linked into them and no more, which takes a third off the time to compile.
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


class _SubroutineCode(_codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that only kernels call: it is linked into theirs, and never loaded."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the code is optimised where it is linked."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Zero: code that is not loaded has no address."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The receiver of the function's environment: code that is not loaded has none."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: nothing refers to the environment."""


class SubroutineCompiler(_compiler.Compiler):  # type: ignore[misc]
    """Numba's compiler, writing to a library that is linked and never loaded."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a Python function."""
        self.state.library = _SubroutineCode(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


# Decorators


_SUBROUTINE = {
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": SubroutineCompiler,
}


_INLINED = {**_SUBROUTINE, "error_model": "numpy", "forceinline": True}


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


def subroutine(function: F) -> F:
    """Compile a function that only kernels call: without reference counts, and linked into their code.

    Numba hands `forceinline` on to callees that do not say anything else, and loops of many pages run at a speed that
    depends on where they happen to be loaded (docs/decisions/009).
    """
    return cast(F, _compiled(function, **_SUBROUTINE, forceinline=False))


def inlined(function: F) -> F:
    """Inline a function of the hot path into its callers: passing many arrays would outweigh the work."""
    return cast(F, _compiled(function, **_SUBROUTINE, forceinline=True))


def formula(function: F) -> F:
    """Share a short calculation: for Python it stays a Python function, and kernels have it inlined."""
    return cast(F, _extending.register_jitable(**_INLINED)(function))


# One name, a body for each type of state


class ChosenByState(Generic[P, R]):
    """A function that kernels call by one name, and that has another body for every type of state.

    The compiler knows which one by the type of the first argument, so the choice costs nothing. A module imported later
    may add the body for a state of its own, as long as nothing was compiled for that before. A body is named like the
    function, with a suffix for its state: a search for `purge_finished` finds `purge_finished_of_two`.
    """

    def __init__(self, declared: Callable[P, R]) -> None:
        self.__name__, self.__doc__ = declared.__name__, declared.__doc__
        self.bodies: dict[type, Callable[..., Any]] = {}  # by the type of the state
        _extending.overload(self, jit_options=_INLINED, strict=False)(self._choose)

    def of(self, state_type: type) -> Callable[[F], F]:
        """Decorate the body for one type of state, which says itself whether it is inlined or called."""

        def add(function: F) -> F:
            assert state_type not in self.bodies, f"{self.__name__} of {state_type.__name__} is there already"
            self.bodies[state_type] = function
            return function

        return add

    def _choose(self, state: Any, *_: Any) -> Callable[..., Any]:
        """The body that numba compiles for these types of arguments."""
        chosen = self._body(state.instance_class)
        return lambda state, *arguments: chosen(state, *arguments)

    def _body(self, state_type: type) -> Callable[..., Any]:
        if state_type not in self.bodies:
            raise TypeError(f"there is no {self.__name__} of {state_type.__name__}: is its module imported?")
        return self.bodies[state_type]

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        return cast(R, self._body(type(arguments[0]))(*arguments, **named))


def chosen_by_state(declared: Callable[P, R]) -> ChosenByState[P, R]:
    """Decorate a function without a body, whose docstring says what the bodies for all states have in common."""
    return ChosenByState(declared)
