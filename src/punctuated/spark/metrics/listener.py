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

from punctuated.spark.metrics.exporters import LOG, Exporter, Lines
from punctuated.spark.metrics.join_metrics import JoinMetrics
from punctuated.spark.metrics.reading import joins_in, metrics_of
from punctuated.spark.metrics.rejected_rows import RejectedRows
from punctuated.spark.session.kind import is_connect

_TOLD: WeakKeyDictionary[SparkSession, "MetricsListener"] = WeakKeyDictionary()


def tell_rejected_rows(spark: SparkSession) -> None:
    """From now on, report rejected rows of all joins of a session in the driver's console.

    With Spark Connect a listener must be removed before the program ends, so adding one is left to users.
    """
    if not is_connect(spark) and spark not in _TOLD:
        _TOLD[spark] = MetricsListener(RejectedRows())
        spark.streams.addListener(_TOLD[spark])


class MetricsListener(StreamingQueryListener):
    """Passes the metrics of every join of a session to exporters; by default to `Lines`.

    `pt.metrics.listen` adds it to a session. An exporter that fails is reported through `logging`; the others and the
    query go on.
    """

    def __init__(self, *exporters: Exporter) -> None:
        self._exporters = exporters or (Lines(),)
        self._earlier: dict[tuple[str, str], JoinMetrics] = {}

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802, the name is Spark's
        """Nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """A batch is done."""
        for join in joins_in(event.progress):
            known = str(event.progress["id"]), join
            metrics = metrics_of(event.progress, self._earlier.get(known), join)
            if metrics is not None:
                self._earlier[known] = metrics
                for exporter in self._exporters:
                    with _failures_logged(exporter):
                        exporter.export(metrics)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing came."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """A query is over."""
        for exporter in self._exporters:
            with _failures_logged(exporter):
                exporter.ended(str(event.id))


@contextmanager
def _failures_logged(exporter: Exporter) -> Iterator[None]:
    try:
        yield
    except Exception:
        LOG.warning("metrics could not be exported by %s", type(exporter).__name__, exc_info=True)
