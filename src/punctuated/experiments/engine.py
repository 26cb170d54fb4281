"""What runs the joins of an experiment: tables in this process, or a local Spark.

Experiments know this interface only. An engine may look less often than it is asked to, or repeat less often, if that
is what it can afford; what it gives says how often it did.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from punctuated.experiments.progress import Progress, part
from punctuated.experiments.series import Series, only
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import Trial


class Engine(Protocol):
    """Observes joins."""

    @property
    def name(self) -> str:
        """The name by which it is asked for, and which results carry."""

    @property
    def state_name(self) -> str:
        """What `state` in its samples counts: engines see a join at different points of its work."""

    def sample(self, trial: Trial, step_us: int, progress: Progress | None = None) -> Series:
        """The join's counters at every step of event time, as long as both streams go on (PW-56)."""

    def race(
        self, trials: Mapping[str, Trial], batch_us: int, repeats: int, progress: Progress | None = None
    ) -> dict[str, dict[str, Any]]:
        """Time the joins in turns; see `race.summary` for what is told of each.

        A repetition is a whole run in batches of this span of event time, or, where runs are expensive, a single batch
        of as many as are asked for. Also told are the number of `batches`, and the `timed_share` of the streams that a
        repetition is.
        """


@contextmanager
def open_engine(name: str, log: Path) -> Iterator[Engine]:
    """The engine of that name, ready to run; pyspark is imported only for Spark, whose messages go to `log`."""
    if name == TABLES.name:
        yield TABLES
        return
    from punctuated.experiments.spark_engine import local_engine

    with local_engine(log) as engine:
        yield engine


def sample_each(
    engine: Engine,
    trials: Mapping[str, Trial],
    step_us: int,
    columns: Iterable[str],
    progress: Progress | None = None,
) -> dict[str, Series]:
    """Sample several joins, one after the other, and keep these counters."""
    kept = tuple(columns)
    return {
        name: only(engine.sample(trial, step_us, part(progress, i, len(trials))), kept)
        for i, (name, trial) in enumerate(trials.items())
    }
