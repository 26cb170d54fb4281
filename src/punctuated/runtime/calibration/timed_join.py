"""What a join costs without its surroundings: a tactic with a stopwatch, and a join measured in one direction (KN-18).

Left out is what turns Arrow columns into arrays and back, which is the same whatever windows are kept in.
"""

from collections.abc import Sequence
from time import thread_time

import numpy as np
import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.expressions.builders import band
from punctuated.intake.prepare import PreparedBatch
from punctuated.intake.reading import Reader
from punctuated.kernels.layout import NO_PROBE, NO_STORE, Ints, Objects
from punctuated.model.algorithm import PWJOIN, pair
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import RIGHT, JoinSpec, Side, StreamSpec
from punctuated.model.window import CountWindow
from punctuated.operator.driver import JoinDriver
from punctuated.operator.family import family_of
from punctuated.operator.tactic import Tactic
from punctuated.operator.windows.indexes import WindowIndexes
from punctuated.operator.windows.tactic import WindowState
from punctuated.output.members import MultiwayCollector
from punctuated.output.pairs import PairCollector
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE
from punctuated.shedding.coins import Shares
from punctuated.state.arrays import JoinState

_SCHEMA = pa.schema([("value", pa.int64()), ("ts", pa.int64())])
_VALUES = 2**40  # that are searched by ranges, so many that hardly two are equal
_TURNS = 2  # how often all tuples are exchanged before anything is measured


class TimedTactic:
    """A tactic that adds up the CPU time of its loop."""

    def __init__(self, tactic: Tactic) -> None:
        self._tactic = tactic
        self.loop_s = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._tactic, name)

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        start = thread_time()
        came_to = self._tactic.run(order, at, stop, inputs)
        self.loop_s += thread_time() - start
        return came_to


class _Counting:
    """A collector that counts results without making columns of them."""

    def drain_pairs(self, state: JoinState) -> None:
        state.common["n_pairs"] = 0  # they are counted already


class CountingCollector(_Counting, PairCollector):
    """Counts results of two streams."""


class CountingMultiwayCollector(_Counting, MultiwayCollector):
    """Counts results of any number of streams."""


def timed(driver: JoinDriver) -> TimedTactic:
    """Put a stopwatch into a driver that has processed nothing yet, and let it count results only."""
    stopwatch = TimedTactic(driver.tactic)
    driver.tactic = stopwatch  # type: ignore[assignment]  # it hands on what it does not have itself
    counting = CountingMultiwayCollector if driver.spec.reaches else CountingCollector
    driver.collector = counting(driver.setup, driver.codec, driver.rows, None)
    return stopwatch


# A join in one direction


class LeftOut:
    """Stands in for what sheds: steps that all tuples of a side leave out."""

    shares = Shares()

    def __init__(self) -> None:
        self.status = (0, 0)

    def apply(self, intakes: Sequence[PreparedBatch], now_us: int | None = None) -> None:
        for intake, status in zip(intakes, self.status, strict=True):
            intake.objects.status[:] |= status

    def left_out(self, ahead: Sequence[object], except_of: Side | None) -> dict[str, list[int]]:
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
        """Seconds for `n` tuples of either stream, which search and are stored."""
        return self._run(n, n)

    def idle(self, n: int) -> float:
        """Seconds for `n` tuples that neither search nor are stored."""
        return self._run(n, 0, left=NO_PROBE | NO_STORE)

    def search(self, n: int) -> float:
        """Seconds for `n` searches of the right window, and nothing else."""
        return self._run(n, 0, left=NO_STORE)

    def update(self, n: int) -> float:
        """Seconds for `n` insertions into the right window, each with the removal of the oldest tuple."""
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
        """Mean tuples in a hash bucket of the right window; buckets come in powers of two, so fewer than asked for."""
        return self.stored[RIGHT] / max(1, int(self._indexes.arrays.sides["n_buckets"][RIGHT]))

    @property
    def bytes_per_tuple(self) -> float:
        """Bytes of keys, buckets and nodes for a tuple of the right window; room to spare is not counted."""
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
