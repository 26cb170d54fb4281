"""A join to be measured as a whole or in one direction, where one stream searches and the other updates (KN-18)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.experiments.timed import timed
from punctuated.expressions.builders import band
from punctuated.intake.prepare import Intake
from punctuated.intake.reading import Reader
from punctuated.kernels.layout import NO_PROBE, NO_STORE
from punctuated.model.algorithm import PWJOIN, pair
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import RIGHT, JoinSpec, Side, StreamSpec
from punctuated.model.window import CountWindow
from punctuated.operator.family import family_of
from punctuated.operator.windows.indexes import WindowIndexes
from punctuated.operator.windows.tactic import WindowState
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE
from punctuated.shedding.coins import Shares

_SCHEMA = pa.schema([("value", pa.int64()), ("ts", pa.int64())])
_VALUES = 2**40  # that are searched by ranges, so many that hardly two are equal
_TURNS = 2  # how often all tuples are exchanged before anything is measured


class LeftOut:
    """In the place of what sheds: steps that all tuples of a side leave out."""

    shares = Shares()

    def __init__(self) -> None:
        self.status = (0, 0)

    def apply(self, intakes: Sequence[Intake], now_us: int | None = None) -> None:
        """Mark the tuples of a batch."""
        for intake, status in zip(intakes, self.status, strict=True):
            intake.objects.status[:] |= status

    def left_out(self, ahead: Sequence[object], except_of: Side | None) -> dict[str, list[int]]:
        """Nothing is shed."""
        return {}


class TimedJoin:
    """Two full windows, their structures in the shape that they have after many tuples have come and gone.

    The predicate is `=`, or `band` for values that are near. Times are those of the loop, in seconds of CPU.
    """

    def __init__(
        self,
        structures: str | None,
        window: int,
        *,
        predicate: str = "=",
        matches: float = 0.1,
        bucket_size: int = BUCKET_SIZE,
        node_size: int = NODE_SIZE,
    ) -> None:
        """Without structures there is an index of values; `matches` is the expected number of them in a search."""
        equal = predicate == "="
        self._values = max(1, round(window / matches)) if equal else _VALUES
        reach = round(_VALUES * matches / window / 2)
        where = None if equal else band("value", -reach, reach)
        left, right = (
            StreamSpec(
                name=name,
                columns=tuple(_SCHEMA.names),
                key=("value",) if equal else (),
                time="ts",
                window=CountWindow(window),
            )
            for name in ("left", "right")
        )
        algorithm = PWJOIN if structures is None else pair(structures)
        spec = JoinSpec((left, right), algorithm=algorithm, bucket_size=bucket_size, node_size=node_size)
        types = (pa.int64(),) if equal else ()
        inputs = tuple(Reader(stream, None, _SCHEMA, types) for stream in spec.streams)
        join = BoundJoin(spec, inputs, where)
        family_of(spec).check(spec, join.where, join.schemas)
        self._driver = join.driver()
        self._stopwatch, self._left_out = timed(self._driver), LeftOut()
        self._driver.shedding = self._left_out  # type: ignore[assignment]  # tuples leave steps out, none is shed
        self._rng, self._now = np.random.default_rng(window), 0
        for _ in range(1 + _TURNS):
            self._run(window, window, NO_PROBE, NO_PROBE)

    def both(self, n: int) -> float:
        """So many tuples of either stream, which search and are stored."""
        return self._run(n, n)

    def idle(self, n: int) -> float:
        """So many tuples that neither search nor are stored."""
        return self._run(n, 0, left=NO_PROBE | NO_STORE)

    def search(self, n: int) -> float:
        """So many searches of the right window, and nothing else."""
        return self._run(n, 0, left=NO_STORE)

    def update(self, n: int) -> float:
        """So many insertions into the right window, each with the removal of the oldest tuple, and nothing else."""
        return self._run(0, n, right=NO_PROBE)

    @property
    def stored(self) -> tuple[int, int]:
        """Tuples in the windows."""
        left, right = self._driver.state.sides["live"].tolist()
        return left, right

    @property
    def results(self) -> int:
        """Pairs found so far."""
        return int(self._driver.state.common["results"][0])

    @property
    def tuples_per_bucket(self) -> float:
        """Of the right window's hash buckets, which come in powers of two, so that it is below what was asked for."""
        return self.stored[RIGHT] / max(1, int(self._indexes.arrays.sides["n_buckets"][RIGHT]))

    @property
    def bytes_per_tuple(self) -> float:
        """Keys, buckets and nodes of the right window; room to spare is not counted."""
        return self._indexes.bytes_in_use(RIGHT) / self.stored[RIGHT]

    @property
    def _indexes(self) -> WindowIndexes:
        assert isinstance(self._driver.state, WindowState)
        return self._driver.state.indexes

    def _run(self, n_left: int, n_right: int, left: int = 0, right: int = 0) -> float:
        """The CPU time of a batch; `left` and `right` are steps that the tuples of a stream leave out."""
        before, self._left_out.status = self._stopwatch.loop_s, (left, right)
        batches = [StreamBatch(self._tuples(n)) for n in (n_left, n_right)]
        self._now += max(n_left, n_right)
        self._driver.process(*batches)
        return self._stopwatch.loop_s - before

    def _tuples(self, n: int) -> pa.Table:
        values = self._rng.integers(0, self._values, n)
        return pa.table([values, np.arange(self._now, self._now + n)], schema=_SCHEMA)
