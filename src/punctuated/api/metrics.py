"""`pt.metrics`: what joins on Spark report about themselves. Only `listen` imports pyspark.

    listener = pt.metrics.listen(spark, pt.metrics.Lines(), pt.metrics.Prometheus("join.prom"))

`of` and `history` read the progress of a query; `docs/spark.md` lists what is counted.
"""

from typing import TYPE_CHECKING, Any

from punctuated.spark.metrics.exporters import Call, Exporter, JsonLines, Lines, Log, RejectedRows
from punctuated.spark.metrics.join_metrics import Counters, JoinMetrics
from punctuated.spark.metrics.prometheus import Prometheus
from punctuated.spark.metrics.reading import history, joins_in
from punctuated.spark.metrics.reading import metrics_of as of

if TYPE_CHECKING:
    from punctuated.spark.metrics.listener import MetricsListener

__all__ = [
    "Call",
    "Counters",
    "Exporter",
    "JoinMetrics",
    "JsonLines",
    "Lines",
    "Log",
    "Prometheus",
    "RejectedRows",
    "history",
    "joins_in",
    "listen",
    "of",
]


def listen(spark: Any, *exporters: Exporter) -> "MetricsListener":
    """Pass the metrics of every join of a session to these exporters from now on; by default to `Lines`.

    Returns:
        The listener. It runs in the driver, with Spark Connect in the client; `spark.streams.removeListener` ends it.
    """
    from punctuated.spark.metrics.listener import MetricsListener

    listener = MetricsListener(*exporters)
    spark.streams.addListener(listener)
    return listener
