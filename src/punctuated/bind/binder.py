"""The binder: declared streams are checked against each other and become a bound join."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.declared import DeclaredStream
from punctuated.bind.options import JoinOptions
from punctuated.errors import AlgorithmError, ColumnError, PredicateError, ShedError, StreamError, UnboundedStateWarning
from punctuated.join.intake.keys import common_key_type
from punctuated.join.output.where import WherePredicate
from punctuated.join.tactics.range_predicate import split_predicate
from punctuated.join.tactics.served_predicate import check_structures
from punctuated.model.algorithm import choose_algorithm, pair
from punctuated.model.given import LARGEST, column_names, whole_number
from punctuated.model.predicate import Expression
from punctuated.model.shed import Shed
from punctuated.model.side import Side
from punctuated.model.size import parse_size
from punctuated.model.spec import (
    DEFAULT_BUCKET_SIZE,
    DEFAULT_MAX_PUNCTUATIONS,
    DEFAULT_NODE_SIZE,
    JoinSpec,
    StreamSpec,
    parse_join_type,
)
from punctuated.model.times import are_times_alike
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.bounds import is_unbounded
from punctuated.plan.optimizer import structure_chooser

_LARGEST_NODE = 1 << 16  # entries of a node of a tree or of a hash bucket
_DEFAULT_NAMES = ("left", "right")


def bind_join(streams: Sequence[DeclaredStream], **options: Unpack[JoinOptions]) -> BoundJoin:
    """A join of these streams; warns if nothing bounds what it must remember of one."""
    left, right = named = _named(streams)
    types = _key_types(left, right)
    _check_time_zones(left, right)
    where = options.get("where")
    spec = _spec((left.spec, right.spec), options)
    _check_predicate(where, spec, named)
    inputs = left.reader(types), right.reader(types)
    ranged, _ = split_predicate(where, [reader.cast_schema for reader in inputs])
    if options.get("algorithm", "auto") == "auto" and not spec.left.key:
        spec = replace(spec, algorithm=pair("NN" if ranged is None else "TT"), adaptive=ranged is not None)
    check_structures(spec, ranged)
    _warn_if_unbounded(spec)
    chooser = structure_chooser(spec, ranged) if spec.adaptive else None
    bound = BoundJoin(spec, inputs, where, chooser=chooser)
    _ = bound.columns  # raises if results would have two columns of one name, or lack one that is selected
    return bound


def _spec(streams: tuple[StreamSpec, ...], options: JoinOptions) -> JoinSpec:
    select, memory = options.get("select"), options.get("bucket_memory")
    return JoinSpec(
        streams,
        how=parse_join_type(options.get("how", "inner")),
        algorithm=choose_algorithm(options.get("algorithm", "auto"), options.get("propagation")),
        purge_threshold=_count(options.get("purge_threshold", 1), "purge_threshold"),
        max_punctuations=_count(options.get("max_punctuations", DEFAULT_MAX_PUNCTUATIONS), "max_punctuations"),
        bucket_bytes=None if memory is None else parse_size(memory, "bucket_memory"),
        selected=None if select is None else _selected(select),
        shed=_checked_shed(options.get("shed")),
        node_size=_count(options.get("node_size", DEFAULT_NODE_SIZE), "node_size", least=2, most=_LARGEST_NODE),
        bucket_size=_count(options.get("bucket_size", DEFAULT_BUCKET_SIZE), "bucket_size", most=_LARGEST_NODE),
    )


def _count(given: int, name: str, least: int = 1, most: int = LARGEST) -> int:
    return whole_number(given, name, AlgorithmError, least=least, most=most)


def _named(streams: Sequence[DeclaredStream]) -> tuple[DeclaredStream, DeclaredStream]:
    """Both streams, each by a name of its own."""
    left, right = (
        replace(each, spec=replace(each.spec, name=each.spec.name or name))
        for each, name in zip(streams, _DEFAULT_NAMES, strict=True)
    )
    if left.spec.name == right.spec.name:
        raise StreamError(f"both streams are named {left.spec.name!r}; give them different names")
    if len(left.spec.key) != len(right.spec.key):
        ours, theirs = (len(each.spec.key) for each in (left, right))
        raise ColumnError(
            f"{left.spec.name} has {ours} key columns and {right.spec.name} {theirs}; give both the same number"
        )
    return left, right


def _key_types(left: DeclaredStream, right: DeclaredStream) -> list[pa.DataType]:
    """The common type of each key column."""
    names = zip(left.spec.key, right.spec.key, strict=True)
    return [
        common_key_type(ours, left.schema.field(ours).type, right.schema.field(theirs).type) for ours, theirs in names
    ]


def _check_time_zones(left: DeclaredStream, right: DeclaredStream) -> None:
    ours, theirs = (each.schema.field(each.spec.time).type for each in (left, right))
    if not are_times_alike(ours, theirs):
        raise ColumnError(
            f"{left.spec.name} has times of type {ours} and {right.spec.name} of type {theirs}: only one of them knows "
            "its time zone; cast the other one"
        )


def _checked_shed(shed: Shed | None) -> Shed | None:
    if shed is not None:
        if not isinstance(shed, Shed):
            raise ShedError(f"shed={shed!r}: give pt.shed(…)")
        shed_allocation(shed)
    return shed


def _selected(select: Sequence[str]) -> tuple[str, ...]:
    if isinstance(select, str):
        raise ColumnError(f"select={select!r}: give a list of column names")
    return column_names(select, "select", ColumnError)


def _check_predicate(where: Expression | None, spec: JoinSpec, streams: Sequence[DeclaredStream]) -> None:
    if where is None:
        if not spec.left.key:
            raise StreamError(
                f"neither {spec.left.name} nor {spec.right.name} has a key, and there is no predicate: give pt.stream "
                "key=, or pt.join where="
            )
        return
    if not isinstance(where, Expression):
        raise PredicateError(f"where={where!r} is not a predicate; build one from pt.left(…) and pt.right(…)")
    for column in where.columns():
        ours = spec.streams[column.side]
        if column.name not in ours.columns:
            raise PredicateError(f"{ours.name} has no column {column.name!r}; it has: {', '.join(ours.columns)}")
    # With a row, if only of nulls: without any, Arrow does not even look at some types.
    left, right = (_null_row(stream.schema) for stream in streams)
    WherePredicate(where).check(left, right)


def _null_row(schema: pa.Schema) -> pa.Table:
    return pa.table([pa.nulls(1, dtype) for dtype in schema.types], names=schema.names)


def _warn_if_unbounded(spec: JoinSpec) -> None:
    for side in Side:
        if is_unbounded(spec, side):
            ours, other = spec.streams[side].name, spec.streams[side.other].name
            message = (
                f"nothing bounds what the join remembers of {ours!r}: give it a window, "
                f"or {other!r} punctuations, and an algorithm that uses them"
            )
            warnings.warn(message, UnboundedStateWarning, stacklevel=4)
