"""Rejected rows are reported in the driver's console: the only metrics that nobody should have to ask for."""

import logging

from punctuated.model.counters import per_stream
from punctuated.model.rejection import Rejection
from punctuated.spark.metrics.exporters import Exporter
from punctuated.spark.metrics.join_metrics import JoinMetrics

LOG = logging.getLogger("punctuated.rejected")  # on standard error, unless logging is configured otherwise
_REMEDY = "joined.rejected, or write_to(rejected=…), shows them. Reported once per query, stream and reason"


class RejectedRows(Exporter):
    """Logs a warning when a query first rejects rows of a stream for a reason."""

    def __init__(self) -> None:
        self._told: set[tuple[str, str, str]] = set()  # query, join, counter

    def export(self, metrics: JoinMetrics) -> None:
        """Warn of what has not been reported yet."""
        for reason in Rejection:
            columns = per_stream(reason.counter, len(metrics.streams))
            for stream, counter in zip(metrics.streams.values(), columns, strict=True):
                known = metrics.query_id, metrics.join, counter
                if metrics.total[counter] and known not in self._told:
                    self._told.add(known)
                    query = f"query {metrics.query_name or metrics.query_id}, batch {metrics.batch_id}: "
                    LOG.warning(query + reason.describe(stream, metrics.total[counter], _REMEDY))

    def ended(self, query_id: str) -> None:
        """Forget a query that is over; if it is started again, it counts as new."""
        self._told = {known for known in self._told if known[0] != query_id}
