"""A Spark of this process, for the demo, experiments and scripts: loopback only, its messages in a file.

It is the Spark that was installed with this package, whatever else is set up on a machine.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from punctuated.errors import PunctuatedError

# A machine that is busy with something else is slow, not broken.
_PATIENCE = {
    "spark.python.authenticate.socketTimeout": "300s",
    "spark.network.timeout": "600s",
    "spark.executor.heartbeatInterval": "60s",
}
SETTINGS = _PATIENCE | {
    "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}
_OLDEST_JAVA = 17
_FOREIGN = ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS")
_SPARK_TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.bool_(): "BOOLEAN"}
_FIRST_FILE_S = 1_600_000_000  # files are dated a second apart: Spark orders them by their time


@contextmanager
def local_spark(
    name: str, folder: Path, log: Path, settings: Mapping[str, str] | None = None, master: str = "local[2]"
) -> Iterator[Any]:
    """A session that is ready for streaming joins, with its own files in `folder`; stopped at the end."""
    from punctuated.spark.session.session import configure, session_with

    for variable in _FOREIGN:
        os.environ.pop(variable, None)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise workers take the first python3 on the PATH
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    folders = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    with stderr_to(log):
        spark = session_with(name, SETTINGS | folders | dict(settings or {}), master)
    try:
        spark.sparkContext.setLogLevel("ERROR")
        yield configure(spark)
    finally:
        for query in spark.streams.active:
            query.stop()
        spark.stop()


@contextmanager
def stderr_to(path: Path) -> Iterator[None]:
    """Let processes that are started in this block write their standard error to a file, as long as they run."""
    sys.stderr.flush()
    ours = os.dup(2)
    with path.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def check_java(otherwise: str) -> None:
    """Raise if Spark would not find a Java that is new enough, in JAVA_HOME or else on the PATH."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    version = _java_version(java) if java else 0
    if version >= _OLDEST_JAVA:
        return
    if home:
        found = f"JAVA_HOME={home} holds {f'version {version}' if version else 'none'}"
    elif java:
        found = f"{java} {f'is version {version}' if version else 'does not run'}"
    else:
        found = "there is no java on the PATH"
    raise PunctuatedError(
        f"Spark needs Java {_OLDEST_JAVA} or newer, but {found}. Install it (Debian, Ubuntu: sudo apt-get install "
        f"openjdk-{_OLDEST_JAVA}-jre-headless; Fedora: sudo dnf install java-{_OLDEST_JAVA}-openjdk-headless; macOS: "
        f"brew install openjdk@{_OLDEST_JAVA}; scripts/ensure_java.sh tries it for you), or {otherwise}"
    )


def _java_version(java: str) -> int:
    """The major version of a Java: 17 for "17.0.15", 8 for "1.8.0_402", 0 if it does not run."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    version = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(version[1]) if version else 0


# A stream as a folder of files, one per micro-batch


def write_files(folder: Path, tables: Sequence[pa.Table], first: int = 0) -> Path:
    """One file per batch; Spark takes the oldest first. `first` is the number of files that are there already."""
    folder.mkdir(parents=True, exist_ok=first > 0)
    for number, table in enumerate(tables, first):
        path = folder / f"{number:05}.parquet"
        pq.write_table(table, path)
        os.utime(path, (_FIRST_FILE_S + number, _FIRST_FILE_S + number))
    return folder


def read_files(spark: Any, folder: Path) -> Any:
    """A streaming DataFrame of what `write_files` wrote, one file per micro-batch."""
    fields = pq.read_schema(folder / "00000.parquet")
    ddl = ", ".join(f"{field.name} {_SPARK_TYPES.get(field.type, 'TIMESTAMP')}" for field in fields)
    return spark.readStream.schema(ddl).option("maxFilesPerTrigger", 1).parquet(str(folder))
