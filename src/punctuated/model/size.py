"""Sizes in bytes, as numbers or as text such as "512 MiB"."""

import re
from fractions import Fraction

from punctuated.errors import AlgorithmError
from punctuated.model.given import LARGEST, is_whole

_UNITS = {"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_TEXT = re.compile(r"\s*+([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*+([a-zA-Z]++)\s*+")


def parse_size(given: int | str, name: str) -> int:
    """Bytes of a size; `name` is the argument that it was given for."""
    size = int(given) if is_whole(given) else _read(given, name)
    if size < 1:
        raise AlgorithmError(f"{name}={given!r}: give at least one byte")
    return min(size, LARGEST)


def _read(given: object, name: str) -> int:
    found = _TEXT.fullmatch(given) if isinstance(given, str) else None
    if found is None or found[2].lower() not in _UNITS:
        raise AlgorithmError(f"{name}={given!r}: give bytes, or a text such as '512 MiB' or '2 GiB'")
    return min(int(Fraction(found[1]) * _UNITS[found[2].lower()]), LARGEST)


def show_size(size: int) -> str:
    """A size for people."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} bytes"
