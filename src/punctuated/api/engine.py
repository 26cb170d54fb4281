"""Spark, for those who use it, and its hosts: what they need is imported only when one of these is called."""

from typing import Any

from punctuated.bind.origins import origin_of
from punctuated.errors import StreamError


def configure(spark: Any) -> Any:
    """Set what streaming joins need in a Spark session; returns the session."""
    from punctuated.spark.session import configure as set_all

    return set_all(spark)


def register_source(spark: Any) -> None:
    """Make `spark.readStream.format("punctuated")` known to a session."""
    from punctuated.spark.source import register

    register(spark)


def write_to(data: Any, **how: Any) -> Any:
    """Start one streaming query that writes a join, or groups of one, to tables and other sinks; returns the query.

    Args:
        data: What `pt.join` gave for streaming DataFrames, or what `group_by(…).agg(…)` of it gave.
        how: `results`, or `groups` of groups, `punctuations` and `rejected`, each a path, `pt.parquet(…)`,
            `pt.delta(…)` or a function of a DataFrame and the id of a batch; `checkpoint`; `trigger`, `name` and
            `finish`, as of `joined.write_to`.
    """
    from punctuated.spark.grouped import SparkGroups
    from punctuated.spark.joined import SparkJoin
    from punctuated.spark.sinks import write_to as start

    origin = data if isinstance(data, SparkJoin) else origin_of(data)
    if not isinstance(origin, SparkJoin | SparkGroups):
        raise StreamError(
            "pt.write_to takes a join of streaming DataFrames, or the very DataFrame that group_by(…).agg(…) gave, not "
            f"one that was made of it, nor {type(data).__name__}; others are written by their own writeStream"
        )
    return start(origin, **how)


def warm_up() -> None:
    """Compile the kernels of every join for this host, or wait until another process has; at once if that is done.

    Joins do so by themselves when they first run. An image or a host that is warm beforehand saves their first batch
    half a minute and more.
    """
    from punctuated.bind.kernels import Kernels
    from punctuated.bind.warm_up import compile_all

    compile_all(tuple(Kernels))
