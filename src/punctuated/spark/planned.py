"""What a plan says about Spark: how the rows of each input come, and in how many buckets they are joined."""

from collections.abc import Sequence

from pyspark.sql import DataFrame

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.origins import FrameOrigin
from punctuated.plan.stream_plan import PlannedInput
from punctuated.plan.tree import Fact
from punctuated.plan.words import listed
from punctuated.spark.files import Files

_LANE = "files, read by row groups by the workers (the columnar lane)"
_ROWS = "a DataFrame, Spark's rows"
_CHAINED = "Spark's rows, from the step below"


def planned_input(
    frame: DataFrame | Files,
    endings: Sequence[tuple[DataFrame | Files, tuple[str, ...], str]],
    origin: FrameOrigin | None,
) -> PlannedInput:
    """An input of a plan, with the plan of the join that it comes from."""
    told = tuple((key, time) for _, key, time in endings)
    if origin is not None:
        return PlannedInput(endings=told, facts=(Fact("rows", _CHAINED, {"way": "rows"}),), origin=origin.plan())
    return PlannedInput(endings=told, facts=_ways(frame))


def bucket_facts(join: BoundJoin) -> list[Fact]:
    """Over how many buckets the join is spread, and which tuples are in each."""
    names = [join.spec.streams[side].name for side in join.spec.everywhere]
    copied = f", every tuple of {listed(names)} in each" if names else ""
    return [Fact("buckets", f"{join.n_buckets}{copied}", {"n": join.n_buckets, "at_once": join.at_once})]


def _ways(frame: DataFrame | Files) -> tuple[Fact, ...]:
    if not isinstance(frame, Files):
        return (Fact("rows", _ROWS, {"way": "rows"}),)
    where = () if frame.where is None else (Fact("where", str(frame.where)),)
    return (Fact("rows", _LANE, {"way": "files"}), *where)
