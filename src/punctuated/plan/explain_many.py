"""What a join of any number of streams will do, in words."""

from punctuated.model.algorithm import HW, Walk
from punctuated.model.eternity import UNBOUNDED
from punctuated.model.reach import farthest
from punctuated.model.spec import JoinSpec
from punctuated.plan.bounds import is_unbounded_among
from punctuated.plan.explain import describe_memory, describe_sources, lateness, output_rule, seconds

_FOUND = {"value": "an index of values", "scan": "a scan of all tuples", "time": "a scan of the tuples in time"}
_LOOKED = {
    "exact": "",
    "global": ", in the widest window of all, and a second look",
    "local": ", in the widest windows of each stream, and a second look",
    "none": ", and a look at the windows afterwards",
}


def explain_many(spec: JoinSpec, where: str | None = None) -> str:
    """The plan as text."""
    names = [stream.name for stream in spec.streams]
    keys = ", ".join(" = ".join(columns) for columns in zip(*(stream.key for stream in spec.streams), strict=True))
    lines = [f"inner join of {', '.join(names[:-1])} and {names[-1]}{f' on {keys}' if keys else ''}"]
    if where is not None:
        lines.append(f"  where {where}")
    walk = spec.algorithm.walk or HW.walk or Walk("value")
    cleaned = f", cleaned up every {walk.cleans_every:,} tuples" if walk.cleans_every else ""
    lines.append(
        f"  algorithm: {spec.algorithm.name}, partners by {_FOUND[walk.finds]}{_LOOKED[walk.periods]}{cleaned}"
    )
    lines.append("  order: for each tuple, streams with the fewest candidates first")
    if len(spec.reaches) > 1:
        lines.append(f"  along {' then '.join(names)}, or back")
    lines += describe_memory(spec)
    for side in spec.sides:
        lines += _describe(spec, side)
    lines.append(f"  output punctuations: {output_rule(spec)}")
    return "\n".join(lines)


def _describe(spec: JoinSpec, side: int) -> list[str]:
    stream, far = spec.streams[side], farthest(spec.reaches)[side]
    others = [f"{other.name} {_bound(far[j])}" for j, other in enumerate(spec.streams) if j != side]
    state = "unbounded until others end" if is_unbounded_among(spec, side) else "bounded"
    return [
        f"  {stream.name}: {lateness(stream)}, punctuations from {describe_sources(stream)}",
        f"    waits for {', '.join(others)}; state: {state}",
    ]


def _bound(us: int) -> str:
    return "without end" if us == UNBOUNDED else f"up to {seconds(us)} later"
