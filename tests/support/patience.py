"""Tests do not depend on how busy the machine is: how long they wait at most, and Spark's one limit that cannot be set.

A deadline here only ends what would never end.
"""

import pytest
from _pytest.runner import runtestprotocol

LONGEST_S = 300

# Spark waits ten seconds, whatever is set, for a Python process that it starts by itself beside its daemon (to plan a
# data source or a stateful step), and that process first compiles all of pyspark out of a zip file.
TOO_SLOW = "Python worker failed to connect back"
_MORE_CHANCES = 2


def run_patiently(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run a test, and once more from its fixtures on where Spark has lost patience; for `pytest_runtest_protocol`."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for _ in range(_MORE_CHANCES):
        if not any(report.failed and TOO_SLOW in report.longreprtext for report in reports):
            break
        item.session._setupstate.teardown_exact(None)  # fixtures that failed are remembered; all are made anew
        item._initrequest()  # type: ignore[attr-defined]
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
