"""A folder is used if nobody else could have put anything there; otherwise it is done without, and said once."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from punctuated.errors import CacheWarning
from punctuated.storage import private_folder as module
from punctuated.storage.private_folder import NotPrivate, do_without, private_folder, user_folder, write_private

SOMEBODY = 4_242


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def belongs_to_another(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Tests run as any user, who cannot give files away."""
    given: set[Path] = set()

    def seen(path: Path) -> os.stat_result:
        found = os.lstat(path)
        return os.stat_result((*found[:4], SOMEBODY, *found[5:10])) if path in given else found

    monkeypatch.setattr(module, "_lstat", seen)
    return given.add


def test_what_is_missing_is_made_for_the_user_alone(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        found = private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(previous)
    assert found == tmp_path.resolve() / "a" / "b"
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
    assert private_folder(tmp_path / "a" / "b") == found


@pytest.mark.parametrize("writers", [0o770, 0o707, 0o720])
@pytest.mark.parametrize("which", ["a", "a/b", "a/b/c"])
def test_no_part_of_the_path_can_be_written_by_others(which: str, writers: int, tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / which).chmod(writers)
    with pytest.raises(NotPrivate, match=f"{which} can be written by others"):
        private_folder(tmp_path / "a" / "b" / "c")


def test_in_a_sticky_folder_others_cannot_replace_what_is_ours(
    tmp_path: Path, belongs_to_another: Callable[[Path], None]
) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    assert private_folder(shared / "ours") == shared.resolve() / "ours"
    with pytest.raises(NotPrivate, match="written by others"):
        private_folder(shared)
    belongs_to_another(shared.resolve() / "ours")
    with pytest.raises(NotPrivate, match=f"another user .uid {SOMEBODY}"):
        private_folder(shared / "ours" / "chunks")


@pytest.mark.parametrize("which", ["a", "a/b"])
def test_no_part_of_the_path_belongs_to_another(
    which: str, tmp_path: Path, belongs_to_another: Callable[[Path], None]
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    belongs_to_another(tmp_path.resolve() / which)
    with pytest.raises(NotPrivate, match="another user"):
        private_folder(tmp_path / "a" / "b")


def test_links_are_followed_and_looked_at(tmp_path: Path, belongs_to_another: Callable[[Path], None]) -> None:
    place, link = tmp_path.resolve() / "place", tmp_path.resolve() / "links" / "link"
    link.parent.mkdir()
    link.symlink_to("../place")  # which is made
    assert private_folder(link / "cache") == place / "cache"
    link.parent.chmod(0o777)
    with pytest.raises(NotPrivate, match="links can be written"):
        private_folder(link / "cache")
    link.parent.chmod(0o700)
    belongs_to_another(link)
    with pytest.raises(NotPrivate, match="link belongs to another"):
        private_folder(link / "cache")


def test_a_link_to_a_place_of_others_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    with pytest.raises(NotPrivate, match="theirs can be written"):
        private_folder(tmp_path / "link" / "cache")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="too many links"):
        private_folder(tmp_path / "loop")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(NotADirectoryError):
            private_folder(path)


def test_what_lies_in_an_open_folder_is_looked_at(tmp_path: Path) -> None:
    """As others may enter, they could write into a file that they may write, though not make one."""
    folder = private_folder(tmp_path / "cache")
    (folder / "code").touch()
    (folder / "code").chmod(0o666)
    assert private_folder(folder) == folder
    folder.chmod(0o755)
    with pytest.raises(NotPrivate, match="code can be written"):
        private_folder(folder)
    (folder / "code").chmod(0o644)
    assert private_folder(folder) == folder


def test_a_private_file_is_new_and_for_the_user_alone(tmp_path: Path) -> None:
    write_private(tmp_path / "file", b"content")
    assert mode(tmp_path / "file") == 0o600 and (tmp_path / "file").read_bytes() == b"content"
    with pytest.raises(FileExistsError):
        write_private(tmp_path / "file", b"other")


@pytest.mark.parametrize("given", [None, "", "relative/folder"])
def test_a_folder_of_the_user(given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert user_folder("XDG_CACHE_HOME", ".cache") == tmp_path / "home" / ".cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_folder("XDG_CACHE_HOME", ".cache") == tmp_path


def test_without_a_home_there_is_no_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    without_home(monkeypatch)
    with pytest.raises(OSError, match="no home folder; set XDG_CACHE_HOME"):
        user_folder("XDG_CACHE_HOME", ".cache")


def without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a uid that has no name, in a container."""

    def unnamed(uid: int) -> None:
        raise KeyError(uid)

    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unnamed)


def test_what_is_done_without_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_done_without", set())
    with pytest.warns(CacheWarning, match="no cache: the disk is full") as said:
        do_without("no cache", OSError("the disk is full"))
    do_without("no cache", OSError("still"))  # a second warning would be an error
    assert len(said) == 1
