"""What the saved state of a join depends on, by name: two queries with the same fingerprint can share a checkpoint.

A field of a stream that is listed here counts always, or never. Any other field counts if it is not the default: so a
new option of streams changes the fingerprint of those queries alone that use it, and older checkpoints stay valid.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from enum import Enum

import pyarrow as pa

from punctuated.kernels.key_bytes import HASH_VERSION
from punctuated.keys.encoding import NESTED_VERSION
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.snapshot.fingerprint import BEYOND_MEMORY, FORMAT, OF_STREAM, Fingerprint

_ALWAYS = ("name", "key", "time", "lateness_us", "flag", "unique", "clustered", "order", "punctuated", "is_output")
# These may change while a query rests, or have an entry of their own.
_NEVER = ("window", "columns", "on_violation", "max_ahead_us", "idle_after_us", "ends_any")


def fingerprint_of(spec: JoinSpec, schemas: Sequence[pa.Schema], key_types: Sequence[pa.DataType]) -> Fingerprint:
    """The fingerprint of a join of streams with these columns."""
    parts: Fingerprint = {"format": f"{FORMAT}", "hash": _hash(key_types), "key types": ", ".join(map(str, key_types))}
    parts |= {
        "join type": spec.how.value,
        "algorithm": repr(
            spec.algorithm if spec.algorithm.structures is None else replace(spec.algorithm, name="pair")
        ),
        "purge threshold": f"{spec.purge_threshold}",
        "shedding": "none" if spec.shed is None else "some",
    }
    if spec.is_staged:
        parts["memory"] = repr(spec.memory)  # the partitions go by it
    elif spec.memory is not None:
        parts[BEYOND_MEMORY] = "some"
    for stream, schema in zip(spec.streams, schemas, strict=True):
        parts[f"{OF_STREAM}{stream.name!r}"] = repr(_declared(stream))
        parts[f"window of {stream.name!r}"] = _window(stream)
        parts[f"columns of {stream.name!r}"] = [f"{field.name}: {field.type}" for field in schema]
    return parts


def _declared(stream: StreamSpec) -> dict[str, object]:
    """The declaration of a stream, as far as its saved state depends on it."""
    others = [each for each in fields(stream) if each.name not in (*_ALWAYS, *_NEVER)]
    used = [each.name for each in others if getattr(stream, each.name) != each.default]
    return {name: _literal(getattr(stream, name)) for name in (*_ALWAYS, *used)}


def _literal(value: object) -> object:
    """A value that can be read back from its text, for messages."""
    if isinstance(value, Enum):
        return value.value
    is_literal = value is None or isinstance(value, bool | int | float | str | tuple)
    return value if is_literal else repr(value)


def _hash(key_types: Sequence[pa.DataType]) -> str:
    """How keys find their buckets."""
    nested = any(map(pa.types.is_nested, key_types))
    return f"{HASH_VERSION}, nested {NESTED_VERSION}" if nested else f"{HASH_VERSION}"


def _window(stream: StreamSpec) -> list[str]:
    window = stream.window
    if isinstance(window, TimeWindow):
        return [f"time, from {window.offset_us} µs", f"{window.span_us} µs"]
    return [repr(window), ""]
