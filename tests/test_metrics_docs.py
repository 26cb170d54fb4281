"""The docs list the counters that there are, under the names that there are."""

import re
from dataclasses import fields
from pathlib import Path

from punctuated.model.counters import COLUMNS, COUNTERS
from punctuated.spark.metrics.join_metrics import JoinMetrics
from punctuated.spark.metrics.prometheus import prometheus_text

DOCS = Path(__file__).resolve().parents[1] / "docs"


# Words that can only be the name of a metric.
LOOKS_LIKE_A_METRIC = re.compile(r"`(?:\w+\.)*(\w+_(?:bytes|tuples|total|hits|misses|written|seconds|rows|ms))`")
COUNTED = re.compile(r"\b(?:total|in_batch)\.(\w+)|metrics\.column\(\"(\w+)\"\)")


def pages() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in (DOCS.parent / "README.md", *DOCS.glob("*.md"))]


def documented() -> list[tuple[str, ...]]:
    """The rows of the table of counters."""
    table = (DOCS / "spark.md").read_text(encoding="utf-8").split("| counter | Prometheus | what |\n")[1]
    rows = table.split("\n\n")[0].splitlines()[1:]
    return [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows]


def test_the_table_of_the_docs_is_the_table_of_counters() -> None:
    assert documented() == [
        (", ".join(f"`{column}`" for column in each.columns), f"`punctuated_{each.exported}`", each.what)
        for each in COUNTERS
    ]


def test_every_metric_that_the_docs_name_exists() -> None:
    metrics = JoinMetrics("q", None, "", 0, "", 0, 1, 0, 0, 0, 0, {"left": 0, "right": 0}, {"triggerExecution": 1})
    known = set(re.findall(r"^# TYPE (\w+)", prometheus_text([metrics]), re.MULTILINE))
    named = {name for page in pages() for name in re.findall(r"`(punctuated_\w+)[`{]", page)}
    assert len(named) > len(COUNTERS)
    assert named <= known
    attributes = {*COLUMNS, *(each.name for each in fields(JoinMetrics)), "batch_ms"}
    words = {name for page in pages() for name in LOOKS_LIKE_A_METRIC.findall(page)}
    assert words <= known | attributes
    counted = {name for page in pages() for found in COUNTED.findall(page) for name in found if name}
    assert counted and counted <= {*COLUMNS}
