"""`pt.configure`, `pt.register_source`, `pt.write_to` and `pt.warm_up`: calls for Spark sessions and their hosts.

Pyspark is imported only when one of them is called.
"""

from typing import Any

import pyarrow as pa

from punctuated.errors import SinkError, StreamError
from punctuated.local.join import Join
from punctuated.runtime.lineage import origin_of


def configure(spark: Any) -> Any:
    """Set what streaming joins need in a Spark session, and return the session."""
    from punctuated.spark.session.session import configure as set_all

    return set_all(spark)


def register_source(spark: Any) -> None:
    """Make `spark.readStream.format("punctuated")` known to a session."""
    from punctuated.spark.source.generated import register

    register(spark)


def write_to(data: Any, **how: Any) -> Any:
    """Start one streaming query that writes the output of a join, or its groups, to tables and other sinks.

    Returns the running query.

    Args:
        data: A join of streaming DataFrames, or the groups that `group_by(…).agg(…)` made of it.
        how: The sinks `results` (for groups: `groups`), `punctuations` and `rejected`: each a path, `pt.parquet(…)`,
            `pt.delta(…)`, or a function of a DataFrame and a batch id. Then `checkpoint`, `trigger`, `name` and
            `finish`, as in `joined.write_to`.
    """
    if isinstance(data, pa.Table):
        raise SinkError(
            "pt.write_to is for joins of streaming DataFrames and for their groups; write a table by pyarrow.parquet, "
            "such as pq.write_table(groups, 'groups.parquet')"
        )
    if isinstance(data, Join):
        data.write_to(**how)
    from punctuated.spark.joins.grouped import SparkGroups
    from punctuated.spark.joins.joined import SparkJoin
    from punctuated.spark.sink.sinks import write_to as start

    origin = data if isinstance(data, SparkJoin) else origin_of(data)
    if not isinstance(origin, SparkJoin | SparkGroups):
        raise StreamError(
            "pt.write_to takes a join of streaming DataFrames, or exactly the DataFrame that group_by(…).agg(…) "
            f"returned, not one derived from it, nor {type(data).__name__}; write others by their own writeStream"
        )
    return start(origin, **how)


def warm_up() -> None:
    """Compile the kernels of all joins for this host. Returns at once if they are compiled already.

    Joins compile what they need when they first run. Calling this beforehand, for example when an image is built,
    saves their first batch half a minute or more.
    """
    from punctuated.runtime.kernel_groups import Kernels
    from punctuated.runtime.warm_up import compile_all

    compile_all(tuple(Kernels))
