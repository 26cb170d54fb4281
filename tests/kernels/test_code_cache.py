"""Machine code is kept in a private folder, or nowhere; no trouble with it stops a kernel."""

import errno
import os
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

from punctuated.errors import CacheWarning
from punctuated.kernels import code_cache as _code_cache
from punctuated.kernels.code_cache import code_folder
from punctuated.kernels.jit import kernel
from punctuated.storage import private_folder
from storage.test_private_folder import without_home

_NOT_CACHED: Any = numba.core.caching.NullCache


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(private_folder, "_done_without", set())
    forget()
    yield tmp_path / "cache"
    forget()


def forget() -> None:
    """As a new process."""
    code_folder.cache_clear()
    _code_cache._folder_of.cache_clear()


def double() -> Callable[[int], int]:
    @kernel
    def doubled(x: int) -> int:
        return x + x

    return doubled


def kept(cache_home: Path) -> list[Path]:
    return sorted(path for path in cache_home.rglob("*") if path.is_file())


def loads(function: Any) -> int:
    return sum(function.stats.cache_hits.values())


def test_machine_code_is_kept_and_found_again(cache_home: Path) -> None:
    assert double()(3) == 6
    assert {path.suffix for path in kept(cache_home)} == {".nbi", ".nbc", ".lock"}
    again = double()
    assert again(3) == 6 and loads(again) == 1


class Spy:
    """What a stranger would have us unpickle."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (os.environ["XDG_CACHE_HOME"] + "/seen",)


@pytest.mark.parametrize("which", [".", "punctuated", "punctuated/kernels-*", "punctuated/kernels-*/*"])
def test_a_folder_that_others_can_write_to_is_not_read(which: str, cache_home: Path) -> None:
    double()(3)
    for path in kept(cache_home):
        path.write_bytes(pickle.dumps(Spy()))
    next(iter(cache_home.glob(which)) if which != "." else iter([cache_home])).chmod(0o777)
    forget()
    with pytest.warns(CacheWarning, match="every process compiles it anew: .* by others"):
        again = double()
    assert again(3) == 6 and loads(again) == 0
    assert not (cache_home / "seen").exists()


def test_a_file_in_the_place_of_a_folder_is_done_without(
    cache_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is there another place, such as the temporary folder, in its stead."""
    cache_home.touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.warns(CacheWarning, match="every process compiles it anew") as said:
        first, second = double(), double()
    assert first(3) == second(3) == 6
    assert len(said) == 1 and isinstance(first._cache, _NOT_CACHED)  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == [cache_home]


def test_no_home_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    without_home(monkeypatch)
    with pytest.warns(CacheWarning, match="there is no home folder; set XDG_CACHE_HOME"):
        assert double()(3) == 6


def test_a_folder_that_can_be_read_only_serves(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    double()(3)
    forget()

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", refuse)
    monkeypatch.setattr("os.mkdir", refuse)
    again = double()
    assert again(3) == 6 and loads(again) == 1
    with pytest.warns(CacheWarning, match="Read-only file system"):
        assert again(3.5) == 7  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", [b"", b"short", pickle.dumps("0.0")])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_anew(suffix: str, damage: bytes, cache_home: Path) -> None:
    double()(3)
    for path in cache_home.rglob(f"*.{suffix}"):
        path.write_bytes(damage)
    again = double()
    if suffix == "nbi" and damage == pickle.dumps("0.0"):
        assert again(3) == 6  # of another version of numba
    else:
        with pytest.warns(CacheWarning, match="cannot be read and is compiled anew"):
            assert again(3) == 6
    third = double()
    assert third(3) == 6 and loads(third) == 1


def test_no_other_folder_of_numba_is_used(cache_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "InTreeCacheLocator")
    assert double()(3) == 6 and kept(cache_home)
    assert _code_cache._config.CACHE_LOCATOR_CLASSES == "InTreeCacheLocator"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(cache_home / "numba"))
    forget()
    assert str(code_folder()).startswith(str(cache_home.resolve() / "numba"))


def test_a_change_in_a_folder_below_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "kernels" / "below"
    below.mkdir(parents=True)
    monkeypatch.setattr(_code_cache, "__file__", str(tmp_path / "kernels" / "_code_cache.py"))
    known = set()
    for text in ("x = 1", "x = 2"):
        (below / "kernel.py").write_text(text, encoding="utf-8")
        known.add(_code_cache._fingerprint())
    assert len(known) == 2
