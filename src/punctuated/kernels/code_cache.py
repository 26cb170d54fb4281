"""The cache of machine code: in a folder that nobody else can write to, or nowhere.

Numba reads pickles there, which run whatever is in them. If the folder cannot be used, kernels are compiled in memory.
"""

import fcntl
import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numba.core.caching

from punctuated.model import rejection
from punctuated.model import times as eternity
from punctuated.storage.private_folder import do_without, private_folder, user_folder

_caching: Any = numba.core.caching  # some versions of numba have types, some have not
_config: Any = numba.config
_SAVING = "saving.lock"
_WITHOUT = "machine code is not kept on disk, so that every process compiles it anew"


@cache
def code_folder() -> Path | None:
    """The folder for this version of the kernels, if there is one that can be used."""
    try:
        given = _config.CACHE_DIR
        root = Path(given) if given else user_folder("XDG_CACHE_HOME", ".cache")
        return private_folder(root / "punctuated" / f"kernels-{_fingerprint()}")
    except OSError as trouble:
        do_without(_WITHOUT, trouble)
        return None


def _fingerprint() -> str:
    """A hash of all sources: numba notices a changed file, but not a changed callee in another file, nor a constant."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in [*sorted(Path(__file__).parent.rglob("*.py")), Path(eternity.__file__), Path(rejection.__file__)]:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


class _Locator(_caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """A locator that knows one folder. It need not be writable: an image may bring it along."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file, self._lineno = py_file, py_func.__code__.co_firstlineno
        self._cache_path = str(_folder_of(self.get_suitable_cache_subpath(py_file)))

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder is there."""


@cache
def _folder_of(sources: str) -> Path:
    folder = code_folder()
    if folder is None:
        raise FileNotFoundError("there is no folder for it")
    return private_folder(folder / sources)


class _CacheImpl(_caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class CodeCache(_caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache of one function; trouble with files costs time, and raises nothing."""

    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code, if it is there and can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as trouble:  # a damaged pickle raises anything
            do_without("machine code that was kept cannot be read and is compiled anew", trouble)
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code, if that is possible.

        One process at a time: numba reads which files of a function there are, and writes the next one, so two that
        save at once, for different types of arguments, would write the same file.
        """
        try:
            with Path(self.cache_path, _SAVING).open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                super().save_overload(sig, data)
        except OSError as trouble:
            do_without(_WITHOUT, trouble)


def code_cache(function: Any) -> Any:
    """The cache of a function's machine code; one that keeps nothing if there is no folder."""
    elsewhere = getattr(_config, "CACHE_LOCATOR_CLASSES", "")
    _config.CACHE_LOCATOR_CLASSES = ""  # would send us to folders that nobody has looked at
    try:
        return CodeCache(function)
    except OSError as trouble:
        do_without(_WITHOUT, trouble)
        return _caching.NullCache()
    finally:
        _config.CACHE_LOCATOR_CLASSES = elsewhere
