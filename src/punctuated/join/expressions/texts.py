"""Functions of texts, character by character whatever these take in memory."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.join.expressions.literals import text, typed, whole

_TEXT = pa.string()


def upper(value: Any) -> Any:
    """In capital letters."""
    return pc.utf8_upper(typed(value, _TEXT))


def lower(value: Any) -> Any:
    """In small letters."""
    return pc.utf8_lower(typed(value, _TEXT))


def length(value: Any) -> Any:
    """The number of characters."""
    return pc.utf8_length(typed(value, _TEXT)).cast(pa.int64())


def trimmed(trim: Callable[..., Any]) -> Callable[..., Any]:
    """Without spaces at its ends, or without other characters that are given."""

    def of(value: Any, characters: Any = None) -> Any:
        texts = typed(value, _TEXT)
        taken = " " if characters is None else text(characters, "trim", "what is trimmed")
        if taken is None:
            return pa.scalar(None, texts.type)
        return trim(texts, characters=taken) if taken else texts

    return of


def substring(value: Any, start: Any, n: Any = None) -> Any:
    """A part, from the first character, which is number 1; a negative start counts from the end."""
    texts, first = typed(value, _TEXT), whole(start, "substring", "the first place")
    size = None if n is None else whole(n, "substring", "the length")
    if first is None or (n is not None and size is None):
        return pa.scalar(None, texts.type)
    if size is not None and size < 0:
        raise PredicateError(f"substring: the length is {size}; give 0 or more")
    begin = first - 1 if first > 0 else first
    stop = None if size is None else begin + size - (first == 0)
    if begin < 0:
        stop = None if stop is None or stop >= 0 else stop
    elif stop is not None:
        stop = max(begin, stop)
    return pc.utf8_slice_codeunits(texts, begin, stop)


def replaced(value: Any, old: Any, new: Any) -> Any:
    """With another text in the place of one, wherever that is."""
    texts = typed(value, _TEXT)
    before, after = text(old, "replace", "the text to replace"), text(new, "replace", "the new text")
    if before is None or after is None:
        return pa.scalar(None, texts.type)
    return pc.replace_substring(texts, before, after) if before else texts  # Arrow never ends with an empty one


def concatenated(*values: Any) -> Any:
    """One behind the other; null if one of them is."""
    if any(pa.types.is_binary(each.type) or pa.types.is_large_binary(each.type) for each in values):
        raise PredicateError("concat: bytes are no text; cast them to text first")
    kind = pa.large_string() if any(pa.types.is_large_string(each.type) for each in values) else _TEXT
    return pc.binary_join_element_wise(*(each.cast(kind) for each in values), pa.scalar("", kind))


def matched(function: str, match: Callable[..., Any]) -> Callable[..., Any]:
    """Whether a text is as a pattern says."""

    def of(value: Any, pattern: Any) -> Any:
        wanted = text(pattern, function, "the pattern")
        return pa.scalar(None, pa.bool_()) if wanted is None else match(typed(value, _TEXT), wanted)

    return of
