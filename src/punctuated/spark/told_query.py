"""Which query a checkpoint is of, told beside Spark's own files.

Steps check the state that they restore, but only in workers, and only when rows come. With this a query that does not
fit is refused where it is built. What is told is the query of the first start: whatever may follow it, may follow its
later versions as well, so it never refuses what the steps would take.
"""

import json

from pyspark.sql import SparkSession

from punctuated.bind.bound_join import BoundJoin
from punctuated.join.state import fingerprint
from punctuated.spark.small_texts import read_text, write_text

_QUERY = "punctuated_query"


class ToldQuery:
    """The query that is about to start, and what the checkpoint says of its own."""

    def __init__(self, spark: SparkSession, checkpoint: str, join: BoundJoin, finish: bool) -> None:
        """`finish`: the query has one more input, which ends the others; Spark counts inputs, but does not say so."""
        self._spark, self._checkpoint = spark, checkpoint.rstrip("/")
        ours = fingerprint.of(join.spec, join.schemas, join.key_types)
        self._ours: fingerprint.Parts = {**ours, **join.definition, "finish=": str(finish)}
        told = read_text(spark, self._path)
        self._told: fingerprint.Parts | None = None if told is None else json.loads(told)

    def check(self) -> None:
        """Raise if the checkpoint has batches of another query."""
        if self._told not in (None, self._ours) and self._has_begun:
            assert self._told is not None
            fingerprint.check(self._told, self._ours)

    def tell(self) -> None:
        """Tell it to those who start with this checkpoint later, unless there are batches already."""
        if self._told != self._ours and not self._has_begun:
            write_text(self._spark, self._path, json.dumps(self._ours))
            self._told = self._ours

    @property
    def _path(self) -> str:
        return f"{self._checkpoint}/{_QUERY}"

    @property
    def _has_begun(self) -> bool:
        return read_text(self._spark, f"{self._checkpoint}/commits", "[0-9]*") is not None
