"""What runs the joins of an experiment: tables in this process, or a local Spark.

Experiments know this protocol only. An engine may sample less often than it is asked to, or repeat less often, if it
cannot afford more; what it returns says how often it did.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from papers.lab.progress import Progress, silent
from papers.lab.tables_engine import TABLES
from papers.lab.trial import Series, Trial


class Engine(Protocol):
    """Observes joins."""

    @property
    def name(self) -> str:
        """The name by which it is asked for, and which results carry."""

    @property
    def state_name(self) -> str:
        """What `state` in its samples counts: engines see a join at different points of its work."""

    def sample(self, trial: Trial, step_us: int, progress: Progress = silent) -> Series:
        """The join's counters at every step of event time, as long as both streams go on (PW-56)."""

    def race(
        self, trials: Mapping[str, Trial], batch_us: int, repeats: int, progress: Progress = silent
    ) -> dict[str, dict[str, Any]]:
        """Time the joins in turns; `race.summary` says what is kept of each.

        A repetition is a whole run in batches of this span of event time, or, where runs are expensive, a single batch
        of as many as are asked for. The result also has the number of `batches`, and the `timed_share` of the streams
        that a repetition is.
        """


@contextmanager
def open_engine(name: str, log: Path) -> Iterator[Engine]:
    """The engine of that name, ready to run; pyspark is imported only for Spark, whose messages go to `log`."""
    if name == TABLES.name:
        yield TABLES
        return
    from papers.lab.spark_engine import local_engine

    with local_engine(log) as engine:
        yield engine
