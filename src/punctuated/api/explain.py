"""`pt.explain`: the plan of a join, or of groups; groups are plain tables or DataFrames whose origin is known."""

from typing import Any

from punctuated.api.stream import is_join
from punctuated.errors import ExplainError
from punctuated.plan.rendering.explain import explain as show
from punctuated.runtime.lineage import origin_of


def explain(data: Any, format: str = "text", **sinks: Any) -> str:
    r"""The plan of a join, or of groups of one: as "text", as "json", or as a picture ("svg").

    Args:
        data: What `pt.join` returned, or exactly the table or DataFrame that `group_by(…).agg(…)` returned.
        format: "text" is a tree for people, "json" the same for machines, "svg" a picture of it.
        sinks: On Spark, the sinks of `write_to`: the plan then says how the rows get to each sink.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> table = pa.table({"k": [1, 2], "ts": [0, 1]})
        >>> a, b = (pt.stream(table, name=name, key="k", time="ts", punctuations=pt.unique()) for name in "AB")
        >>> counts = pt.join(a, b).group_by("k").agg(n=pt.count())
        >>> print("\n".join(pt.explain(counts).splitlines()[:2]))
        groups by k
        │  aggregates: n = count()
    """
    origin: Any = data if is_join(data) else origin_of(data)
    if origin is None:
        raise ExplainError(
            "pt.explain takes what pt.join returned, or exactly the table or DataFrame that group_by(…).agg(…) "
            f"returned, not one derived from it, nor {type(data).__name__}"
        )
    if hasattr(origin, "chain_source"):
        explained: str = origin.explain(format, **sinks)
        return explained
    if sinks:
        raise ExplainError(f"{', '.join(sinks)}: sinks are for joins of DataFrames; leave them out")
    return show(origin.plan(), format)
