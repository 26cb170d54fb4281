"""A checkpoint that an earlier build of this format left goes on on Spark."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from golden.checkpoint import STOPPED_AT, run, unpack
from punctuated.snapshot.fingerprint import FORMAT

KEPT = Path(__file__).parent / f"format_{FORMAT}" / "checkpoint.zip"


@pytest.mark.spark
def test_a_kept_checkpoint_goes_on_with_what_an_undisturbed_query_brings(spark: SparkSession, tmp_path: Path) -> None:
    unpack(KEPT, tmp_path / "kept")
    commits = {path.name for path in (tmp_path / "kept" / "commits").iterdir()}
    assert commits >= {"0", "1"} and str(STOPPED_AT) not in commits
    later = run(spark, tmp_path / "kept")
    whole = run(spark, tmp_path / "fresh")
    assert 0 < len(later) < len(whole)
    assert sorted(later) == sorted(whole)[len(whole) - len(later) :]  # keys ascend, and so do groups
