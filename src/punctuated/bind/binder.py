"""The binder: declared streams are checked against each other and become a bound join.

Everything that a user can get wrong in `pt.join` and `pt.path` is found here, before a row is read. What comes out, a
`BoundJoin`, is plain data that any runner can carry out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.declared import DeclaredStream
from punctuated.bind.options import JoinOptions
from punctuated.errors import (
    AlgorithmError,
    ColumnError,
    PredicateError,
    ShedError,
    StreamError,
    UnboundedStateWarning,
    WindowError,
    warn_caller,
)
from punctuated.expressions.evaluate import check_predicate
from punctuated.expressions.nodes import HERE, Column, Expression
from punctuated.expressions.shape import selected_names
from punctuated.intake.reading import Reader
from punctuated.keys.types import BOTH_SIDES, SideLabels, common_key_type
from punctuated.model.algorithm import HW, MULTIWAY, MW, STAGED_XJOIN, Algorithm, Propagation, choose_algorithm, pair
from punctuated.model.arguments import LARGEST, whole_number
from punctuated.model.memory import parse_memory, parse_size
from punctuated.model.policy import Policy
from punctuated.model.reach import Reach, Steps, Within, reach_along, reach_by_windows, reach_within, reversed_reach
from punctuated.model.shed import Shed
from punctuated.model.spec import (
    DEFAULT_BUCKET_SIZE,
    DEFAULT_MAX_PUNCTUATIONS,
    DEFAULT_NODE_SIZE,
    MOST_STREAMS,
    JoinSpec,
    StreamSpec,
    parse_join_type,
)
from punctuated.model.times import are_times_alike
from punctuated.model.window import TimeWindow
from punctuated.operator.family import family_of
from punctuated.operator.windows.predicate import split_predicate
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.bounds import is_unbounded
from punctuated.plan.optimizer import structure_chooser

_LARGEST_NODE = 1 << 16  # entries of a node of a tree or of a hash bucket
_DEFAULT_NAMES = ("left", "right")


@dataclass(frozen=True)
class TimeDistance:
    """How far apart in time the members of a result may be: what `within=` says, or else the windows of the streams.

    With `along`, the streams are a path: each member comes after that of the stream before it. With `both_directions`,
    the way back counts, too.
    """

    within: Within | Steps | None = None
    along: bool = False
    both_directions: bool = False

    def reaches(self, streams: Sequence[StreamSpec]) -> tuple[Reach, ...]:
        """The largest gaps between any two streams: one matrix, or two for a path in both directions.

        There is none if the windows of two streams decide.
        """
        names = [stream.name for stream in streams]
        if self.along:
            self._check_path()
        if self.within is None:
            return (reach_by_windows(names, [each.window for each in streams]),) if len(streams) > 2 else ()
        for stream in streams:
            if stream.window is not None:
                raise WindowError(
                    f"stream {stream.name!r} has a window of its own, but within= also says how near tuples must be; "
                    "leave one of them out"
                )
        if not self.along:
            return (reach_within(names, self.within),)
        forth = reach_along(names, self.within)
        return (forth, reversed_reach(forth)) if self.both_directions else (forth,)

    def _check_path(self) -> None:
        if self.within is None:
            raise WindowError("a path needs within=: one duration for all steps, or a list with one for each")
        if not isinstance(self.both_directions, bool):
            raise WindowError(f"both_directions={self.both_directions!r}: give True or False")


BY_WINDOWS = TimeDistance()


def bind_join(
    streams: Sequence[DeclaredStream], distance: TimeDistance = BY_WINDOWS, **options: Unpack[JoinOptions]
) -> BoundJoin:
    """A join of these streams; the members of a result are within `distance` of each other.

    Warns if nothing bounds what the join must remember of a stream.
    """
    _check_number(len(streams))
    named = _named(streams)
    types = _key_types(named)
    _check_time_zones(named)
    spec = _spec(tuple(each.spec for each in named), distance, options)
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


def _spec(streams: tuple[StreamSpec, ...], distance: TimeDistance, options: JoinOptions) -> JoinSpec:
    select, bucket, memory = options.get("select"), options.get("bucket_memory"), options.get("memory")
    name, propagation = options.get("algorithm", "auto"), options.get("propagation")
    reaches = distance.reaches(streams)
    staged = _is_staged(name, streams, reaches, options)
    multiway = len(streams) > 2 or (_is_multiway(name) and not staged)
    if multiway and not reaches:
        reaches = (reach_by_windows([stream.name for stream in streams], [stream.window for stream in streams]),)
    return JoinSpec(
        streams if multiway or not reaches else _with_windows(streams, reaches),
        how=parse_join_type(options.get("how", "inner")),
        algorithm=_algorithm(name, propagation, multiway=multiway, staged=staged, keyed=bool(streams[0].key)),
        purge_threshold=_count(options.get("purge_threshold", 1), "purge_threshold"),
        max_punctuations=_count(options.get("max_punctuations", DEFAULT_MAX_PUNCTUATIONS), "max_punctuations"),
        bucket_bytes=None if bucket is None else parse_size(bucket, "bucket_memory"),
        memory=None if memory is None else parse_memory(memory),
        policy=(options.get("policy") or Policy()) if staged else None,
        selected=None if select is None or isinstance(select, Mapping) else selected_names(select),
        shed=_checked_shed(options.get("shed")),
        node_size=_count(options.get("node_size", DEFAULT_NODE_SIZE), "node_size", least=2, most=_LARGEST_NODE),
        bucket_size=_count(options.get("bucket_size", DEFAULT_BUCKET_SIZE), "bucket_size", most=_LARGEST_NODE),
        reaches=reaches if multiway else (),
    )


def _count(given: int, name: str, least: int = 1, most: int = LARGEST) -> int:
    return whole_number(given, name, AlgorithmError, least=least, most=most)


def _with_windows(streams: Sequence[StreamSpec], reaches: Sequence[Reach]) -> tuple[StreamSpec, ...]:
    """Two streams with the windows that admit the largest of these gaps."""
    spans = (max(reach[side][1 - side] for reach in reaches) for side in range(2))
    return tuple(replace(stream, window=TimeWindow(span)) for stream, span in zip(streams, spans, strict=True))


def _checked_shed(shed: Shed | None) -> Shed | None:
    if shed is not None:
        if not isinstance(shed, Shed):
            raise ShedError(f"shed={shed!r}: give pt.shed(…)")
        shed_allocation(shed)
    return shed


# Streams


def _check_number(n_streams: int) -> None:
    """Raise if this many streams cannot be joined."""
    if n_streams < 2:
        raise StreamError(f"a join needs two streams or more; {n_streams or 'none'} was given")
    if n_streams > MOST_STREAMS:
        raise StreamError(f"a join takes up to {MOST_STREAMS} streams, not {n_streams}; join some of them first")


def _named(streams: Sequence[DeclaredStream]) -> list[DeclaredStream]:
    """The streams, each with a name of its own."""
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
    """The types of the key columns that the keys of all streams can be cast to."""
    first = streams[0]
    types = [first.schema.field(name).type for name in first.spec.key]
    for number, stream in enumerate(streams[1:]):
        before = " and ".join(each.spec.name for each in streams[: number + 1])
        labels = BOTH_SIDES if len(streams) == 2 else SideLabels.of(before, stream.spec.name)
        theirs = [stream.schema.field(name).type for name in stream.spec.key]
        types = [common_key_type(*each, labels) for each in zip(first.spec.key, types, theirs, strict=True)]
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


# The algorithm


def _algorithm(name: str, propagation: str | None, *, multiway: bool, staged: bool, keyed: bool) -> Algorithm:
    """The named algorithm, or the best one for such streams if the name is `auto`."""
    if multiway:
        best = HW if keyed else MW  # by values, or without a key by time
        return choose_algorithm(best.name if name == "auto" else name, propagation)
    return _choose_staged(name, propagation) if staged else choose_algorithm(name, propagation)


def _is_multiway(name: object) -> bool:
    """Whether an algorithm belongs to the family of the W-join, which also joins two streams."""
    return isinstance(name, str) and name in MULTIWAY


def _is_staged(name: str, streams: Sequence[StreamSpec], reaches: Sequence[Reach], options: JoinOptions) -> bool:
    """Whether a join finds results with tuples on disk later, in stages of their own.

    XJoin of two streams without windows always does; with windows or more streams, its name means the baseline of the
    W-join. PJoin does if it is given a memory or a policy.
    """
    policy = options.get("policy")
    if policy is not None and not isinstance(policy, Policy):
        raise AlgorithmError(f"policy={policy!r}: give pt.Policy(…)")
    plain = len(streams) == 2 and not reaches and all(stream.window is None for stream in streams)
    if name == "xjoin" and plain:
        return True
    if name == "pjoin" and len(streams) == 2 and (policy is not None or options.get("memory") is not None):
        return True
    if policy is not None:
        raise AlgorithmError(
            f"policy= is for algorithm='pjoin', and for 'xjoin' of two streams without windows, which do their work in "
            f"stages; {name!r} does everything at once: leave it out"
        )
    return False


def _choose_staged(name: str, propagation: str | None) -> Algorithm:
    """XJoin or PJoin in stages; PJoin propagates by Theorem 1, unless another rule is named (PJ-09)."""
    if name == "pjoin":
        return choose_algorithm(name, propagation or Propagation.OWN_STATE.value)
    if propagation not in (None, Propagation.NONE.value):
        raise AlgorithmError(f"propagation={propagation!r}: 'xjoin' does not know punctuations; use 'pjoin'")
    return STAGED_XJOIN


# The extra predicate


def _predicate(where: Expression | None, spec: JoinSpec, streams: Sequence[DeclaredStream]) -> Expression | None:
    """The extra predicate, each of its columns bound to its stream."""
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


# What bounds the state


def _unbounded(spec: JoinSpec) -> Iterator[str]:
    """A warning for each stream whose state nothing bounds; joins of two bound their state by `memory=`, too."""
    if spec.memory is not None and not spec.reaches:
        return
    for side in spec.sides:
        if is_unbounded(spec, side):
            others = "the others" if spec.reaches else repr(spec.streams[1 - side].name)
            remedy = _remedy(spec.algorithm, others)
            yield f"nothing bounds what the join remembers of {spec.streams[side].name!r}: {remedy}"


def _remedy(algorithm: Algorithm, others: str) -> str:
    """What a user can do to bound the state of a stream."""
    proofs = ((algorithm.by_window, "give it a window"), (algorithm.by_punctuation, f"give {others} punctuations"))
    used = [remedy for is_used, remedy in proofs if is_used]
    return ", or ".join(used) or f"{algorithm.name} forgets nothing; use 'auto'"
