"""Over Spark Connect the same calls give what tables give; the client has no JVM."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

import punctuated as pt
from patience import LONGEST_S
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.spark.session.local import write_files
from spark import crash_query
from spark.checkpoints import Batches, cut_by_time
from spark.processes import free_port, kill_session, listens

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
N_BATCHES = 2


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A server on this machine, as long as the context lasts; its address."""
    port = free_port()
    settings = crash_query.SETTINGS | {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # for a short life
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]", "--class", SERVER]
    given = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (folder / "server.log").open("ab") as log:
        server = subprocess.Popen(
            [*submit, *given], cwd=folder, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    try:
        deadline = time.monotonic() + LONGEST_S
        while not listens(port):
            assert server.poll() is None and time.monotonic() < deadline, (folder / "server.log").read_text()[-5000:]
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()
        kill_session(server.pid)


def run_client(remote: str, folder: Path) -> None:
    """The program in a process of its own: a classic session of this one would stand in its way."""
    tests = Path(__file__).parents[2]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tests), str(tests / "support"), os.environ.get("PYTHONPATH", "")])
    }
    outcome = subprocess.run(
        [sys.executable, "-m", "spark.connect_query", remote, str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr[-5000:] + (folder / "server.log").read_text()[-5000:]


def got(folder: Path, name: str, like: pa.Table) -> Counter[str]:
    return counted(pq.read_table(folder / "got" / f"{name}.parquet").cast(like.schema))


def counted(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


@pytest.fixture
def batches() -> Batches:
    return cut_by_time(*pt.streams.auctions(100, seed=5, rate=1.0), N_BATCHES)


@pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java 17 or newer"
)
def test_over_connect_everything_is_as_on_tables(batches: Batches, tmp_path: Path) -> None:
    for side, name in ((LEFT, "auctions"), (RIGHT, "bids")):
        write_files(tmp_path / name, [batch[side] for batch in batches])
    with connect_server(tmp_path) as remote:
        run_client(remote, tmp_path)

    joined = pt.join(*crash_query.auction_streams(*([batch[side] for batch in batches] for side in Side)))
    groups = joined.group_by("item_id").agg(**crash_query.AGGREGATES)
    results = counted(joined.results)
    assert results.total() > 100
    for name in ("results", "sinks_results", "batch_results"):
        assert got(tmp_path, name, joined.results) == results, name
    assert got(tmp_path, "sinks_rejected", joined.rejected) == counted(joined.rejected)
    assert got(tmp_path, "batch_groups", groups) == counted(groups)
    # A table ends with its streams, a streaming query does not: what only the end says is missing.
    for name, table in (("groups", groups), ("sinks_punctuations", joined.punctuations)):
        found = got(tmp_path, name, table)
        assert found and found <= counted(table), name
    generated = pt.streams.generate("cluster-asc-20", 100, seed=7)
    assert got(tmp_path, "generated", generated) == counted(generated)

    assert "pt.configure" in (tmp_path / "got" / "refused").read_text()
    said, heard = (json.loads((tmp_path / "got" / f"{name}.json").read_text()) for name in ("said", "heard"))
    assert said == heard
    assert [each["batch_id"] for each in said] == [*range(N_BATCHES)] * 2
    assert [each["total"]["results"] for each in said[N_BATCHES - 1 :: N_BATCHES]] == [results.total()] * 2


def test_a_progress_asked_for_over_connect_has_input_rows_in_its_sources_alone() -> None:
    observed = {"punctuated": {"buckets": ['{"bucket": 0}']}}
    sources = [{"numInputRows": 3}, {"numInputRows": 4}]
    found = pt.metrics.of(
        {"id": "q", "batchId": 0, "numInputRows": None, "sources": sources, "observedMetrics": observed}
    )
    assert found is not None and found.input_rows == 7
