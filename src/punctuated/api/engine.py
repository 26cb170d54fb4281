"""Spark, for those who use it, and its hosts: what they need is imported only when one of these is called."""

from typing import Any


def configure(spark: Any) -> Any:
    """Set what streaming joins need in a Spark session; returns the session."""
    from punctuated.spark.session import configure as set_all

    return set_all(spark)


def register_source(spark: Any) -> None:
    """Make `spark.readStream.format("punctuated")` known to a session."""
    from punctuated.spark.source import register

    register(spark)


def warm_up() -> None:
    """Compile the kernels of every join for this host, or wait until another process has; at once if that is done.

    Joins do so by themselves when they first run. An image or a host that is warm beforehand saves their first batch
    half a minute and more.
    """
    from punctuated.bind.kernels import Kernels
    from punctuated.bind.warm_up import compile_all

    compile_all(tuple(Kernels))
