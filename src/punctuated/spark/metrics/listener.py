"""A listener that is called for every micro-batch of a session.

Only the public interface of PySpark is used: it works in a classic session and with Spark Connect, where its methods
run in the client.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from punctuated.spark.metrics.exporters import LOG, Exporter, Lines, RejectedRows
from punctuated.spark.metrics.join_metrics import JoinMetrics
from punctuated.spark.metrics.reading import joins_in, metrics_of
from punctuated.spark.session.connect import is_connect

_LISTENERS: WeakKeyDictionary[SparkSession, "MetricsListener"] = WeakKeyDictionary()


def log_rejected_rows(spark: SparkSession) -> None:
    """Report rejected rows of all joins of a session in the driver's console, from now on.

    With Spark Connect a listener must be removed before the program ends, so adding one is left to users.
    """
    if not is_connect(spark) and spark not in _LISTENERS:
        _LISTENERS[spark] = MetricsListener(RejectedRows())
        spark.streams.addListener(_LISTENERS[spark])


class MetricsListener(StreamingQueryListener):
    """Passes the metrics of every join of a session to exporters; by default to `Lines`.

    `pt.metrics.listen` adds it to a session. An exporter that fails is reported through `logging`; the others and the
    query go on.
    """

    def __init__(self, *exporters: Exporter) -> None:
        self._exporters = exporters or (Lines(),)
        self._earlier: dict[tuple[str, str], JoinMetrics] = {}

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802, the name is Spark's
        """Spark's interface; nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Export the metrics of every join of a batch."""
        for join in joins_in(event.progress):
            known = str(event.progress["id"]), join
            metrics = metrics_of(event.progress, self._earlier.get(known), join)
            if metrics is not None:
                self._earlier[known] = metrics
                for exporter in self._exporters:
                    with _failures_logged(exporter):
                        exporter.export(metrics)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Spark's interface; an idle query has no metrics."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Pass on that a query is over."""
        for exporter in self._exporters:
            with _failures_logged(exporter):
                exporter.ended(str(event.id))


@contextmanager
def _failures_logged(exporter: Exporter) -> Iterator[None]:
    try:
        yield
    except Exception:
        LOG.warning("metrics could not be exported by %s", type(exporter).__name__, exc_info=True)
