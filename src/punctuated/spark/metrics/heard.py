"""What this process knows of micro-batches, from all sources of reports (see `reports`)."""

from collections.abc import Callable, Mapping
from typing import Any

Batch = tuple[str, int]  # a query, and its micro-batch
Said = dict[Batch, dict[str, dict[int, str]]]  # what the buckets of each join of it said, as JSON

_HEARD: list[Callable[[], Said]] = []


def hear(reports: Callable[[], Said]) -> None:
    """From now on, look there as well."""
    _HEARD.append(reports)


def heard(progress: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the buckets of each join have reported in the micro-batch of this progress."""
    for reports in _HEARD:
        found = reports().get((str(progress["id"]), int(progress["batchId"])))
        if found is not None:
            return {join: list(buckets.values()) for join, buckets in found.items()}
    return {}
