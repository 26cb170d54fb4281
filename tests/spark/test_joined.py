"""Joins over DataFrames: streaming ones equal the oracle batch by batch, batch ones equal tables."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.model.algorithm import choose_algorithm
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinSpec, JoinType
from punctuated.spark.session import REQUIRED
from punctuated.testing import reference
from punctuated.testing.checks import check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import (
    PATTERN,
    Collected,
    Metrics,
    drawn,
    endings_table,
    ends,
    in_band_table,
    is_spreadable,
    observe,
    read_files,
    run_query,
    write_files,
)

KINDS = ("results", "unmatched", "punctuations", "rejected")
PWJOIN = choose_algorithm("pwjoin")


@cache
def rich_case(how: JoinType) -> Case:
    """Late tuples, broken promises, ranges and endings from outside: of many cases, the one with most of everything."""
    many = drawn(cases(types=[how], algorithms=[PWJOIN], max_batches=4, max_objects=25), 100)
    told = [case for case in many if is_spreadable(case) and all(stream.punctuated for stream in case.spec.streams)]
    return max(told, key=_richness)


def _richness(case: Case) -> int:
    outputs = reference.join(case.spec, case.batches)
    return sum(min(12, sum(len(getattr(output, kind)) for output in outputs)) for kind in KINDS)


@dataclass(frozen=True)
class Inputs:
    """Both streams of a case as tables, batch by batch: in-band rows, and endings."""

    spec: JoinSpec
    rows: tuple[list[pa.Table], list[pa.Table]]
    endings: tuple[list[pa.Table], list[pa.Table]]

    @staticmethod
    def of(spec: JoinSpec, batches: Sequence[Batch]) -> "Inputs":
        left, right = ([in_band_table(spec.streams[side], batch[side]) for batch in batches] for side in Side)
        ours, theirs = ([endings_table(spec.streams[side], batch[side]) for batch in batches] for side in Side)
        return Inputs(spec, (left, right), (ours, theirs))

    def on_tables(self) -> pt.Join:
        """The join over tables."""
        return self._join(self.rows, self.endings)

    def on_spark(self, spark: SparkSession, folder: Path, streaming: bool, buckets: int | None = None) -> Any:
        """The join over DataFrames that read files, one file per batch and stream."""
        rows, announced = (
            [
                read_files(
                    spark, write_files(folder / f"{name}{side:d}", tables[side]), tables[side][0].schema, streaming
                )
                for side in Side
            ]
            for name, tables in (("rows", self.rows), ("endings", self.endings))
        )
        return self._join(rows, announced, buckets=buckets)

    def _join(self, rows: Sequence[Any], endings: Sequence[Any], **options: Any) -> Any:
        left, right = (self._stream(side, rows[side], endings[side]) for side in Side)
        algorithm = self.spec.algorithm
        return pt.join(
            left, right, how=self.spec.how, algorithm=algorithm.name, propagation=algorithm.propagation.value, **options
        )

    def _stream(self, side: Side, rows: Any, endings: Any) -> pt.Stream:
        stream = self.spec.streams[side]
        sources = pt.rows_with(PATTERN) | pt.endings(endings, key="key", time="at")
        sources = sources | pt.when(stream.flag) if stream.flag is not None else sources
        sources = sources | pt.unique() if stream.unique else sources
        return pt.stream(
            rows,
            name=stream.name,
            key=list(stream.key),
            time=stream.time,
            window=stream.window,
            punctuations=sources | pt.clustered() if stream.clustered else sources,
            lateness=stream.lateness_us,
            max_ahead=stream.max_ahead_us,
            on_violation=stream.on_violation,
            order=stream.order,
        )


def counted(table: pa.Table) -> Counter[str]:
    """The rows of a table as a multiset."""
    return Counter(json.dumps(row, default=str, sort_keys=True) for row in table.to_pylist())


# Streaming


@pytest.mark.parametrize("how", list(JoinType))
def test_a_streaming_join_equals_the_oracle(spark: SparkSession, tmp_path: Path, how: JoinType) -> None:
    case = rich_case(how)

    def run(spec: JoinSpec, batches: Sequence[Batch]) -> list[Any]:
        inputs = Inputs.of(spec, [*batches, ends(spec, batches)])
        joined = inputs.on_spark(spark, tmp_path, streaming=True, buckets=3)
        collected = run_query(joined.all, tmp_path / "checkpoint")
        metrics, seen = Metrics(), []
        for number, table in collected.batches.items():
            metrics.note(collected.metrics[number])
            seen.append(observe(spec, table.to_pylist(), metrics))
        return seen

    check_equals_oracle(run, case.spec, case.batches)
