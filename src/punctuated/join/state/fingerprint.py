"""What a saved state and a query must have in common, part by part, and where they may differ."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import pyarrow as pa

from punctuated.errors import SnapshotError
from punctuated.join.intake.key_encoding import NESTED_VERSION
from punctuated.join.state.difference import show_both
from punctuated.kernels.key_bytes import HASH_VERSION
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow

FORMAT = 6
Parts = dict[str, str | list[str]]
_STREAM = "stream "
_BEYOND_MEMORY = "state beyond memory (memory=)"


def of(spec: JoinSpec, schemas: Sequence[pa.Schema], key_types: Sequence[pa.DataType]) -> Parts:
    """The fingerprint of a query."""
    parts: Parts = {"format": f"{FORMAT}", "hash": _hash(key_types), "key types": ", ".join(map(str, key_types))}
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
        parts[_BEYOND_MEMORY] = "some"
    for stream, schema in zip(spec.streams, schemas, strict=True):
        left_out = ("window", "columns", "on_violation", "max_ahead_us", "idle_after_us", "ends_any")
        parts[f"{_STREAM}{stream.name!r}"] = repr({k: v for k, v in asdict(stream).items() if k not in left_out})
        parts[f"window of {stream.name!r}"] = _window(stream)
        parts[f"columns of {stream.name!r}"] = [f"{field.name}: {field.type}" for field in schema]
    return parts


def _hash(key_types: Sequence[pa.DataType]) -> str:
    """How keys find their buckets."""
    nested = any(map(pa.types.is_nested, key_types))
    return f"{HASH_VERSION}, nested {NESTED_VERSION}" if nested else f"{HASH_VERSION}"


def _window(stream: StreamSpec) -> list[str]:
    window = stream.window
    if isinstance(window, TimeWindow):
        return [f"time, from {window.offset_us} µs", f"{window.span_us} µs"]
    return [repr(window), ""]


def check(saved: Parts, now: Parts) -> None:
    """Raise if a state does not fit a query; a smaller window and new columns do fit."""
    if saved.get("format") != now.get("format"):
        raise SnapshotError(
            f"the saved state has format {saved.get('format')}, and this version of punctuated reads and writes "
            f"format {now.get('format')}; let the version that wrote it finish, or start with a new checkpoint"
        )
    for part in {**now, **saved}:
        before, here = saved.get(part), now.get(part)
        if before != here and not _may_differ(part, before, here):
            then, now_shown = show_both(part, before, here)
            raise SnapshotError(
                f"the saved state is of another query: {_whose(part, saved, now)} is {then}, here it is {now_shown}; "
                "start with a new checkpoint, or go back to the old definition"
            )


def _whose(part: str, saved: Parts, now: Parts) -> str:
    """The part; if its stream is not in both, also which streams the state is of."""
    if not part.startswith(_STREAM) or (part in saved and part in now):
        return f"its {part}"
    names = [each.removeprefix(_STREAM) for each in saved if each.startswith(_STREAM)]
    return f"it has the streams {' and '.join(names)}; its {part}"


def _may_differ(part: str, before: str | list[str] | None, here: str | list[str] | None) -> bool:
    if part == _BEYOND_MEMORY:
        return before is None  # what was in memory may go to disk; what is on disk would be missing without memory=
    if not isinstance(before, list) or not isinstance(here, list):
        return False
    if part.startswith("window of"):
        return before[0] == here[0] and before[0].startswith("time") and _span(here) <= _span(before)
    return part.startswith("columns of") and [column for column in here if column in before] == before


def _span(window: list[str]) -> int:
    return int(window[1].split()[0])
