"""A Spark standalone cluster on this machine: a master and workers, all of them on 127.0.0.1.

A worker and all that it starts, executors and their Python processes, are a session: so they are found, and ended.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

import pyspark

from patience import LONGEST_S
from spark.processes import free_port, kill, kill_session, listens, members_with

HOST = "127.0.0.1"
SPARK_HOME = Path(pyspark.__file__).parent
EXECUTOR = "CoarseGrainedExecutorBackend"
MEMORY = "1g"  # of each executor's JVM


@dataclass
class Cluster:
    """A master and its workers; leaving the context ends every process that was started."""

    folder: Path
    n_workers: int = 2
    master: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    port: int = field(default_factory=free_port)

    @property
    def url(self) -> str:
        return f"spark://{HOST}:{self.port}"

    def __enter__(self) -> Self:
        try:
            self.master = self._start("master.Master", "--port", str(self.port))
            self._await_master()
            for _ in range(self.n_workers):
                self.start_worker()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start_worker(self) -> int:
        """A worker for one executor with one core; returns its process id."""
        work = ["--work-dir", str(self.folder / "work"), "--cores", "1", "--memory", MEMORY]
        self.workers.append(self._start("worker.Worker", *work, self.url))
        return self.workers[-1].pid

    def kill_worker(self, random: Random) -> int | None:
        """Kill a worker together with its executor and Python processes; returns its process id, if there is one."""
        busy = [worker for worker in self.workers if members_with(worker.pid, EXECUTOR)]
        if not busy:
            return None
        victim = random.choice(busy)
        self.workers.remove(victim)
        _end(victim)
        return victim.pid

    def kill_executor(self, random: Random) -> int | None:
        """Kill the JVM of an executor; returns its process id, if there is one."""
        running = [pid for worker in self.workers for pid in members_with(worker.pid, EXECUTOR)]
        if not running:
            return None
        victim = random.choice(running)
        kill(victim)
        return victim

    @property
    def n_executors_started(self) -> int:
        """How many executors there have been: each has a folder."""
        return sum(path.is_dir() for path in (self.folder / "work").glob("app-*/*"))

    def stop(self) -> None:
        """End every process that was started."""
        for process in [*self.workers, *([self.master] if self.master is not None else [])]:
            _end(process)

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
        with (self.folder / "cluster.log").open("ab") as log:
            return subprocess.Popen(
                [*command, "--host", HOST, "--webui-port", "0", *arguments],
                stdout=log,
                stderr=log,
                env=os.environ | environment(self.folder),
                start_new_session=True,
            )

    def _await_master(self) -> None:
        assert self.master is not None
        deadline = time.monotonic() + LONGEST_S
        while not listens(self.port):
            if self.master.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the master does not start:\n{(self.folder / 'cluster.log').read_text()[-3000:]}")
            time.sleep(0.1)


def environment(folder: Path) -> dict[str, str]:
    """For the cluster's processes and for the driver: this Python, this Spark, and nothing beyond this machine."""
    return {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its session."""
    process.kill()
    process.wait()
    kill_session(process.pid)
