"""Binds a union of streams with the same columns, or one stream by itself.

Each accepted tuple is a result at once, at its own time. A value is over when all streams have ended it. The watermark
of the output is that of the slowest stream. So nothing is stored but the endings of values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.declared import DeclaredStream
from punctuated.errors import AlgorithmError, ColumnError, StreamError
from punctuated.expressions.shape import Select, selected_names
from punctuated.model.algorithm import UNION
from punctuated.model.arguments import whole_number
from punctuated.model.memory import parse_size
from punctuated.model.spec import MOST_STREAMS, JoinSpec, JoinType
from punctuated.output.columns import payload_of


def bind_union(
    streams: Sequence[DeclaredStream],
    *,
    max_punctuations: int,
    bucket_memory: int | str | None,
    select: Select | None = None,
) -> BoundJoin:
    """The union of these streams; the options are those of `pt.union`."""
    if not 1 <= len(streams) <= MOST_STREAMS:
        raise StreamError(f"a union takes one to {MOST_STREAMS} streams, not {len(streams)}; unite some of them first")
    plain = _named([_without_windows(each, is_single=len(streams) == 1) for each in streams])
    for each in plain[1:]:
        _check_columns(plain[0], each)
    n = len(plain)
    spec = JoinSpec(
        tuple(each.spec for each in plain),
        how=JoinType.UNION,
        algorithm=UNION,
        max_punctuations=whole_number(max_punctuations, "max_punctuations", AlgorithmError, least=1),
        bucket_bytes=None if bucket_memory is None else parse_size(bucket_memory, "bucket_memory"),
        selected=None if select is None or isinstance(select, Mapping) else selected_names(select),
        reaches=(((0,) * n,) * n,),  # no tuple waits for another one
    )
    types = [plain[0].schema.field(name).type for name in spec.left.key]
    bound = BoundJoin(spec, tuple(each.reader(types) for each in plain)).made_of_results(select)
    _ = bound.results  # raises if a selected column is missing
    return bound


def _without_windows(stream: DeclaredStream, *, is_single: bool) -> DeclaredStream:
    """The stream as a part of a union: it has no window, and a single stream follows no other one when it is silent."""
    idle_after = None if is_single else stream.spec.idle_after_us
    return replace(stream, spec=replace(stream.spec, window=None, idle_after_us=idle_after))


def _named(streams: Sequence[DeclaredStream]) -> list[DeclaredStream]:
    """The streams, each with a name of its own."""
    defaults = ["stream"] if len(streams) == 1 else [f"stream {number + 1}" for number in range(len(streams))]
    names = [each.spec.name or name for each, name in zip(streams, defaults, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise StreamError(f"two streams of the union are named {name!r}; give them different names")
    return [replace(each, spec=replace(each.spec, name=name)) for each, name in zip(streams, names, strict=True)]


def _check_columns(first: DeclaredStream, other: DeclaredStream) -> None:
    """Raise if two streams differ in their columns; the message names the first difference."""
    names = f"{first.spec.name!r} and {other.spec.name!r}"
    if first.spec.key != other.spec.key:
        keys = [", ".join(each.spec.key) or "none" for each in (first, other)]
        raise ColumnError(f"{names} of the union have different keys: {keys[0]}, and {keys[1]}; give both the same")
    for ours, theirs in ((first, other), (other, first)):
        missing = [name for name in _shown(ours) if name not in _shown(theirs)]
        if missing:
            raise ColumnError(
                f"{names} of the union must have the same columns, but {theirs.spec.name!r} has no {missing[0]!r}; "
                "add it there, or leave it out everywhere"
            )
    for name in _shown(first):
        one, another = first.schema.field(name).type, other.schema.field(name).type
        if one != another:
            raise ColumnError(
                f"{names} of the union must have the same columns, but {name!r} is of type {one} in one and of "
                f"{another} in the other; cast one of them"
            )


def _shown(stream: DeclaredStream) -> list[str]:
    return [*stream.spec.key, *payload_of(stream.spec)]
