"""Which folders may be sinks of one query, and when two paths are one; no JVM is needed to see it."""

from pathlib import Path

import pytest

from punctuated.errors import StreamError
from punctuated.spark.sink.ownership import check_apart, path_parts


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("out", "out/"),
        ("out", "x/../out"),
        ("out", "./out//"),
        ("out", "link"),
        ("out/deep", "link/deep"),
        ("/data/out", "file:/data/out"),
        ("/data/out", "file:///data/./out/"),
        ("hdfs://Host:8020/out", "HDFS://host:8020//x/../out"),
        ("s3://bucket/out", "s3a://bucket/out/"),
        ("abfss://c@account.dfs/out", "abfss://c@account.dfs/x/../out"),
        ("dbfs:/out", "dbfs:///out/"),
    ],
)
def test_two_spellings_of_one_folder(one: str, two: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert path_parts(one) == path_parts(two)
    with pytest.raises(StreamError, match="same path"):
        check_apart({"the results": one, "the rejected rows": two})
    with pytest.raises(StreamError, match="inside that of the results"):
        check_apart({"the results": one, "the checkpoint": f"{two}/checkpoint"})
    with pytest.raises(StreamError, match="inside that of the checkpoint"):
        check_apart({"the results": f"{one}/results", "the checkpoint": two})


def test_folders_side_by_side_are_apart() -> None:
    check_apart({"the results": "/out/a", "the rejected rows": "/out/ab", "the checkpoint": "/out/checkpoint"})
    check_apart({"the results": "s3://one/out", "the rejected rows": "s3://two/out", "the checkpoint": "/out"})
    check_apart({"the results": "hdfs://one/out/a", "the checkpoint": "hdfs://one/out/b"})
