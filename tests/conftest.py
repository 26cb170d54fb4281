"""Hypothesis: the same moderate number of examples every time; HYPOTHESIS_PROFILE=ten, or thorough, for a random run of
more than ten times as many, or of seventy.

One local Spark session per test process, for those who ask for it.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from patience import run_patiently
from punctuated.spark.session.local import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

checks = list(HealthCheck)
settings.register_profile("default", max_examples=70, deadline=None, derandomize=True, suppress_health_check=checks)
random = settings(deadline=None, derandomize=False, suppress_health_check=checks)
settings.register_profile("ten", random, max_examples=1_000)
settings.register_profile("thorough", random, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Tests are short: what the JVM's first compiler makes is fast enough, in their children, too.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

SPARK = SETTINGS | {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.numRecentProgressUpdates": "100",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.checkpointFileManagerClass": (  # renames files without child processes
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


_LONGEST = ("test_exactly_once.py", "test_connect.py")  # minutes each


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, then what runs on Spark, which waits a lot: so all processes end together."""
    items.sort(key=lambda item: (item.path.name not in _LONGEST, "spark" not in item.keywords))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A test on Spark gets another chance if nothing was wrong but the machine too busy."""
    return run_patiently(item, nextitem) if "spark" in item.keywords else None


@pytest.fixture(scope="session", autouse=True)
def own_chunk_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Workers share files within a test process only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PUNCTUATED_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A session on two cores, stopped at the end of the run."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer; scripts/ensure_java.sh says how to get it")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.master("local[2]").appName("punctuated-tests")
    folders = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    for name, value in (SPARK | folders).items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # otherwise workers take the first python3 on the PATH
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()
