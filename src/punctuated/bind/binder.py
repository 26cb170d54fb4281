"""The binder: declared streams are checked against each other and become a bound join."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import pyarrow as pa

from punctuated.bind.algorithms import choose_staged, is_staged
from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.declared import DeclaredStream
from punctuated.bind.distances import WINDOWS, Near, as_windows, check_number, choose_multiway, is_multiway
from punctuated.bind.options import JoinOptions
from punctuated.errors import (
    AlgorithmError,
    ColumnError,
    PredicateError,
    ShedError,
    StreamError,
    UnboundedStateWarning,
    warn_caller,
)
from punctuated.expressions.evaluate import check_predicate
from punctuated.expressions.shape import selected_names
from punctuated.intake.reading import Reader
from punctuated.keys.codec import BOTH_SIDES, Places, common_key_type
from punctuated.model.algorithm import Algorithm, choose_algorithm, pair
from punctuated.model.arguments import LARGEST, whole_number
from punctuated.model.expression import HERE, Column, Expression
from punctuated.model.memory import parse_memory, parse_size
from punctuated.model.policy import Policy
from punctuated.model.reach import reach_by_windows
from punctuated.model.shed import Shed
from punctuated.model.spec import (
    DEFAULT_BUCKET_SIZE,
    DEFAULT_MAX_PUNCTUATIONS,
    DEFAULT_NODE_SIZE,
    JoinSpec,
    Side,
    StreamSpec,
    parse_join_type,
)
from punctuated.model.times import are_times_alike
from punctuated.operator.family import family_of
from punctuated.operator.windows.predicate import split_predicate
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.bounds import is_unbounded, is_unbounded_among
from punctuated.plan.optimizer import structure_chooser

_LARGEST_NODE = 1 << 16  # entries of a node of a tree or of a hash bucket
_DEFAULT_NAMES = ("left", "right")


def bind_join(streams: Sequence[DeclaredStream], near: Near = WINDOWS, **options: Unpack[JoinOptions]) -> BoundJoin:
    """A join of these streams; their windows or `near` say how near tuples must be to each other.

    Warns if nothing bounds what it must remember of a stream.
    """
    check_number(len(streams))
    named = _named(streams)
    types = _key_types(named)
    _check_time_zones(named)
    spec = _spec(tuple(each.spec for each in named), near, options)
    inputs = tuple(each.reader(types) for each in named)
    bound = _bind(spec, inputs, named, options).made_of_results(options.get("select"))
    _ = bound.results  # raises if two columns would have one name, or a selected column is missing
    for message in _unbounded(bound.spec):
        warn_caller(message, UnboundedStateWarning)
    return bound


def _bind(
    spec: JoinSpec, inputs: tuple[Reader, ...], streams: Sequence[DeclaredStream], options: JoinOptions
) -> BoundJoin:
    where, ranged = _predicate(options.get("where"), spec, streams), None
    schemas = [reader.cast_schema for reader in inputs]
    if options.get("algorithm", "auto") == "auto" and not spec.left.key and not spec.reaches:
        ranged, _ = split_predicate(where, schemas)
        spec = replace(spec, algorithm=pair("NN" if ranged is None else "TT"), adaptive=ranged is not None)
    family_of(spec).check(spec, where, schemas)
    chooser = structure_chooser(spec, ranged) if spec.adaptive else None
    return BoundJoin(spec, inputs, where, chooser=chooser)


def _spec(streams: tuple[StreamSpec, ...], near: Near, options: JoinOptions) -> JoinSpec:
    select, bucket, memory = options.get("select"), options.get("bucket_memory"), options.get("memory")
    name, propagation = options.get("algorithm", "auto"), options.get("propagation")
    ways = near.ways(streams)
    staged = is_staged(name, streams, ways, options)
    by_walk = len(streams) > 2 or (is_multiway(name) and not staged)
    if by_walk and not ways:
        ways = (reach_by_windows([stream.name for stream in streams], [stream.window for stream in streams]),)
    return JoinSpec(
        streams if by_walk or not ways else as_windows(streams, ways),
        how=parse_join_type(options.get("how", "inner")),
        algorithm=_algorithm(name, propagation, by_walk=by_walk, staged=staged, keyed=bool(streams[0].key)),
        purge_threshold=_count(options.get("purge_threshold", 1), "purge_threshold"),
        max_punctuations=_count(options.get("max_punctuations", DEFAULT_MAX_PUNCTUATIONS), "max_punctuations"),
        bucket_bytes=None if bucket is None else parse_size(bucket, "bucket_memory"),
        memory=None if memory is None else parse_memory(memory),
        policy=(options.get("policy") or Policy()) if staged else None,
        selected=None if select is None or isinstance(select, Mapping) else selected_names(select),
        shed=_checked_shed(options.get("shed")),
        node_size=_count(options.get("node_size", DEFAULT_NODE_SIZE), "node_size", least=2, most=_LARGEST_NODE),
        bucket_size=_count(options.get("bucket_size", DEFAULT_BUCKET_SIZE), "bucket_size", most=_LARGEST_NODE),
        reaches=ways if by_walk else (),
    )


def _algorithm(name: str, propagation: str | None, *, by_walk: bool, staged: bool, keyed: bool) -> Algorithm:
    if by_walk:
        return choose_multiway(name, propagation, keyed=keyed)
    return choose_staged(name, propagation) if staged else choose_algorithm(name, propagation)


def _count(given: int, name: str, least: int = 1, most: int = LARGEST) -> int:
    return whole_number(given, name, AlgorithmError, least=least, most=most)


def _named(streams: Sequence[DeclaredStream]) -> list[DeclaredStream]:
    """All streams, each by a name of its own."""
    if len(streams) > 2 and not all(each.spec.name for each in streams):
        raise StreamError("columns of more than two streams are named after their streams: give each pt.stream name=")
    defaults = _DEFAULT_NAMES if len(streams) == 2 else [""] * len(streams)
    named = [
        replace(each, spec=replace(each.spec, name=each.spec.name or name))
        for each, name in zip(streams, defaults, strict=True)
    ]
    first = named[0].spec
    for number, (ours, *earlier) in enumerate([named[i::-1] for i in range(1, len(named))]):
        if any(ours.spec.name == each.spec.name for each in earlier):
            which = "both streams are" if len(named) == 2 else f"two streams, the last of them number {number + 2}, are"
            raise StreamError(f"{which} named {ours.spec.name!r}; give them different names")
        if len(first.key) != len(ours.spec.key):
            raise ColumnError(
                f"{first.name} has {len(first.key)} key columns and {ours.spec.name} {len(ours.spec.key)}; "
                f"give {'both' if len(named) == 2 else 'all'} the same number"
            )
    return named


def _key_types(streams: Sequence[DeclaredStream]) -> list[pa.DataType]:
    """The common type of each key column."""
    first = streams[0]
    types = [first.schema.field(name).type for name in first.spec.key]
    for number, stream in enumerate(streams[1:]):
        before = " and ".join(each.spec.name for each in streams[: number + 1])
        places = BOTH_SIDES if len(streams) == 2 else Places.of(before, stream.spec.name)
        theirs = [stream.schema.field(name).type for name in stream.spec.key]
        types = [common_key_type(*each, places) for each in zip(first.spec.key, types, theirs, strict=True)]
    return types


def _check_time_zones(streams: Sequence[DeclaredStream]) -> None:
    first = streams[0]
    ours = first.schema.field(first.spec.time).type
    for stream in streams[1:]:
        theirs = stream.schema.field(stream.spec.time).type
        if not are_times_alike(ours, theirs):
            raise ColumnError(
                f"{first.spec.name} has times of type {ours} and {stream.spec.name} of type {theirs}: only one of them "
                "has a time zone; cast the other one"
            )


def _checked_shed(shed: Shed | None) -> Shed | None:
    if shed is not None:
        if not isinstance(shed, Shed):
            raise ShedError(f"shed={shed!r}: give pt.shed(…)")
        shed_allocation(shed)
    return shed


def _predicate(where: Expression | None, spec: JoinSpec, streams: Sequence[DeclaredStream]) -> Expression | None:
    """The extra predicate, its columns found in their streams."""
    if where is None:
        if not spec.left.key:
            names = " nor ".join(stream.name for stream in spec.streams)
            raise StreamError(
                f"neither {names} has a key, and there is no predicate: give pt.stream key=, or pt.join where="
            )
        return None
    if not isinstance(where, Expression):
        raise PredicateError(f"where={where!r} is not a predicate; build one from pt.left(…) and pt.right(…)")
    where = where.with_columns(lambda column: _found(column, spec.streams))
    check_predicate(where, [stream.schema for stream in streams])
    return where


def _found(column: Column, streams: Sequence[StreamSpec]) -> Column:
    names = [stream.name for stream in streams]
    if column.side == HERE:
        raise PredicateError(
            f"where= has pt.column({column.name!r}), but not of which stream: write pt.left(…) or pt.right(…), or "
            f"pt.column({names[0]!r}, {column.name!r})"
        )
    if column.stream:
        if column.stream not in names:
            raise PredicateError(f"where= names a stream {column.stream!r}; the streams are: {', '.join(names)}")
        column = replace(column, side=names.index(column.stream))
    elif len(streams) > 2:
        raise PredicateError(
            f"where= has {column}, but of {len(streams)} streams none is the left or the right one: write "
            f"pt.column({names[0]!r}, {column.name!r}), or another stream's"
        )
    ours = streams[column.side]
    if column.name not in ours.columns:
        raise PredicateError(f"{ours.name} has no column {column.name!r}; it has: {', '.join(ours.columns)}")
    return column


def _unbounded(spec: JoinSpec) -> Iterator[str]:
    """What to say of each stream whose state nothing bounds; of two, what goes to disk is bounded by that."""
    if spec.reaches:
        found = [(side, "the others") for side in spec.sides if is_unbounded_among(spec, side)]
    else:
        bounded = spec.memory is not None
        found = [
            (side, repr(spec.streams[side.other].name)) for side in Side if not bounded and is_unbounded(spec, side)
        ]
    for side, others in found:
        remedy = _remedy(spec.algorithm, others)
        yield f"nothing bounds what the join remembers of {spec.streams[side].name!r}: {remedy}"


def _remedy(algorithm: Algorithm, others: str) -> str:
    """What would bound the state of a stream."""
    proofs = ((algorithm.by_window, "give it a window"), (algorithm.by_punctuation, f"give {others} punctuations"))
    used = [remedy for is_used, remedy in proofs if is_used]
    return ", or ".join(used) or f"{algorithm.name} forgets nothing; use 'auto'"
