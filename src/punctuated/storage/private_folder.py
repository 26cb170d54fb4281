"""May this folder be used? Its files become state, settings or machine code, so nobody else may put files there.

A folder is private if it and every folder and link on its path belong to the user or root, and nobody else can write
there; in a sticky folder such as /tmp others cannot replace our files. If others may enter a folder, its files must be
private, too. No caller depends on such a folder: if there is none, the program works without it and says so once.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from punctuated.errors import CacheWarning, warn_caller

_MOST_LINKS = 40  # as many as Linux follows
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_done_without: set[str] = set()


class NotPrivate(OSError):
    """Other users could change a folder, or the path to it."""


def user_folder(variable: str, usual: str) -> Path:
    """The folder named by an XDG variable, else the usual one at home; raises OSError if there is no home."""
    chosen = Path(os.environ.get(variable, ""))
    if chosen.is_absolute():  # the XDG rules: a path that is not absolute is ignored
        return chosen
    try:
        return Path.home() / usual
    except RuntimeError as error:  # neither HOME nor a name of the user
        raise OSError(f"there is no home folder; set {variable}") from error


def private_folder(folder: Path) -> Path:
    """The folder without links in its path; missing folders are made, for the user alone. Raises OSError otherwise."""
    found = _checked_path(folder)
    seen = _lstat(found)
    _check(found, seen, sticky_suffices=False)
    if seen.st_uid != os.geteuid() or seen.st_mode & _OTHERS:
        for path in found.iterdir():
            with suppress(FileNotFoundError):  # removed meanwhile
                _check(path, _lstat(path))
    return found


def write_private(path: Path, *parts: bytes | memoryview) -> None:
    """Write a new file that nobody else may read or write."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for part in parts:
            file.write(part)


def do_without(what: str, trouble: Exception) -> None:
    """Warn, once in a process, what the program does without, and why."""
    if what not in _done_without:
        _done_without.add(what)
        warn_caller(f"{what}: {trouble}", CacheWarning)


def _checked_path(folder: Path) -> Path:
    """Follow the path as the system does, name by name: whoever can change a link decides where it leads."""
    root, *names = Path(os.path.abspath(folder)).parts
    at, waiting, n_links = Path(root), names[::-1], 0
    _check(at, _lstat(at))
    while waiting:
        name = waiting.pop()
        if name == "..":
            at = at.parent
            continue
        child = at / name
        seen = _stat_or_make(child)
        _check(child, seen)
        if not stat.S_ISLNK(seen.st_mode):
            at = child
            continue
        n_links += 1
        if n_links > _MOST_LINKS:
            raise NotPrivate(f"{folder} goes through too many links")
        target = Path(os.readlink(child))
        waiting += [name for name in target.parts[::-1] if name != target.anchor]
        at = Path(target.anchor) if target.is_absolute() else at
    if not stat.S_ISDIR(_lstat(at).st_mode):
        raise NotADirectoryError(f"{at} is not a folder")
    return at


def _stat_or_make(path: Path) -> os.stat_result:
    try:
        return _lstat(path)
    except FileNotFoundError:
        path.mkdir(mode=0o700, exist_ok=True)  # another process may be as fast
        return _lstat(path)


def _lstat(path: Path) -> os.stat_result:
    return os.lstat(path)


def _check(path: Path, seen: os.stat_result, *, sticky_suffices: bool = True) -> None:
    if seen.st_uid not in (0, os.geteuid()):
        raise NotPrivate(f"{path} belongs to another user (uid {seen.st_uid})")
    if stat.S_ISLNK(seen.st_mode):
        return  # its mode says nothing
    is_sticky = stat.S_ISDIR(seen.st_mode) and bool(seen.st_mode & stat.S_ISVTX)
    if seen.st_mode & _OTHERS_WRITE and not (is_sticky and sticky_suffices):
        raise NotPrivate(f"{path} can be written by others (chmod go-w makes it private)")
