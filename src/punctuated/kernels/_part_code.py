"""How functions are compiled that only other kernels call: without machine code of their own.

Numba optimises every function by itself and makes machine code of it, though what is called, and above all what is
inlined, becomes code of its callers and is optimised again with each of them. Here a part is only made ready to be
linked into them, which takes a third off the time to compile.
"""

from typing import Any

import numba.core.codegen
import numba.core.compiler

_codegen: Any = numba.core.codegen  # some versions of numba have types, some have not
_compiler: Any = numba.core.compiler


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
