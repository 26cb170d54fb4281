"""The inputs of a join over DataFrames: what they are, how a plan describes them, and which columns stay unchanged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import PredicateError, StreamError
from punctuated.expressions.shape import Shape
from punctuated.intake.reading import Reader
from punctuated.plan.planner import PlannedInput
from punctuated.plan.tree import Fact, show_names
from punctuated.runtime.lineage import FrameOrigin
from punctuated.spark.session.types import refuse_collations
from punctuated.spark.source.files import Files

_LANE = "files, read by row groups by the workers (the columnar lane)"
_ROWS = "a DataFrame, Spark's rows"
_CHAINED = "Spark's rows, from the step below"


@dataclass(frozen=True)
class JoinInput:
    """An input of a join: its DataFrame, and the DataFrames that announce its endings, with key and time columns.

    Each of them may be files instead. If the input is the output of a join, `origin` is that join, or its groups.
    """

    frame: DataFrame | Files
    endings: tuple[tuple[DataFrame | Files, tuple[str, ...], str], ...] = ()
    origin: FrameOrigin | None = None

    def with_end(self, now: bool) -> "JoinInput":
        """The same input, with an end of its streams behind the join that it comes from, if there is one."""
        return self if self.origin is None else replace(self, frame=self.origin.with_end(now).chain_source())


# What a plan says about Spark


def planned_input(
    frame: DataFrame | Files,
    endings: Sequence[tuple[DataFrame | Files, tuple[str, ...], str]],
    origin: FrameOrigin | None,
) -> PlannedInput:
    """An input of a plan, with the plan of the join that it comes from."""
    announced = tuple((key, time) for _, key, time in endings)
    if origin is not None:
        return PlannedInput(endings=announced, facts=(Fact("rows", _CHAINED, {"way": "rows"}),), origin=origin.plan())
    return PlannedInput(endings=announced, facts=_reading(frame))


def bucket_facts(join: BoundJoin) -> list[Fact]:
    """The number of buckets of a join, and whose tuples go to each of them."""
    names = [join.spec.streams[side].name for side in join.spec.everywhere]
    copied = f", every tuple of {show_names(names)} in each" if names else ""
    return [Fact("buckets", f"{join.n_buckets}{copied}", {"n": join.n_buckets, "at_once": join.at_once})]


def _reading(frame: DataFrame | Files) -> tuple[Fact, ...]:
    if not isinstance(frame, Files):
        return (Fact("rows", _ROWS, {"way": "rows"}),)
    where = () if frame.where is None else (Fact("where", str(frame.where)),)
    return (Fact("rows", _LANE, {"way": "files"}), *where)


# Columns and kinds of inputs


def own_fields(frame: DataFrame | Files, shape: Shape | None) -> dict[str, StructField]:
    """The fields of a stream that are unchanged columns of its data."""
    return renamed_fields({field.name: field for field in frame.schema}, shape)


def renamed_fields(fields: dict[str, StructField], shape: Shape | None) -> dict[str, StructField]:
    """The fields that a shape leaves unchanged, by their new names."""
    if shape is None:
        return fields
    sources = {name: shape.source_of(name) for name in shape.schema.names}
    return {name: fields[source] for name, source in sources.items() if source in fields}


def refuse_collated(frame: DataFrame | Files, reader: Reader, column: str) -> None:
    """Raise if a column that a predicate compares has a collation."""
    source = column if reader.shape is None else reader.shape.source_of(column)
    if source is not None:
        refuse_collations(frame.schema, [source], "where=: the column", PredicateError)


def are_streaming(inputs: Sequence[JoinInput]) -> bool:
    """Whether all inputs and their endings are streaming; raises if only some are."""
    frames = [frame for each in inputs for frame in (each.frame, *(ending[0] for ending in each.endings))]
    streaming = {frame.isStreaming for frame in frames}
    if len(streaming) > 1:
        raise StreamError("some inputs are streaming and some are not; read all of them with spark.readStream, or none")
    return streaming.pop()
