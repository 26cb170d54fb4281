"""Paths in a script: relative ones are meant from the folder that the script lies in."""

import os
from collections.abc import Mapping
from pathlib import Path

from punctuated.tables.file_systems import LOCAL, has_scheme, split_path

PATH = "path"


def from_folder(path: str, folder: Path) -> str:
    """A path as it is seen from anywhere.

    >>> from_folder("out/x", Path("/home/me")), from_folder("s3a://bucket/x", Path("/home/me"))
    ('/home/me/out/x', 's3a://bucket/x')
    """
    return path if has_scheme(path) else os.path.normpath(folder.absolute() / Path(path).expanduser())


def with_path(options: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The same options, `path` among them as it is seen from anywhere."""
    found = option_named(PATH, options)
    return {name: from_folder(text, folder) if name == found else text for name, text in options.items()}


def option_named(wanted: str, options: Mapping[str, str]) -> str | None:
    """How an option is spelled, if it is given: case does not matter."""
    return next((name for name in options if name.lower() == wanted.lower()), None)


def take_option(wanted: str, options: dict[str, str]) -> str | None:
    """The value of an option, taken out of them."""
    name = option_named(wanted, options)
    return None if name is None else options.pop(name)


def local_path(path: str) -> Path | None:
    """The path on this host, if it is one."""
    scheme, _, inside = split_path(path)
    return Path(inside) if scheme == LOCAL else None
