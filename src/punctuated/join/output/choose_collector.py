"""Which collector makes the results of a join."""

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.collector import Collector
from punctuated.join.output.multiway_collector import MultiwayCollector
from punctuated.join.output.pair_collector import PairCollector, Where
from punctuated.join.setup import DriverSetup
from punctuated.join.state.rows import RowStore


def choose_collector(setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], where: Where | None) -> Collector:
    """The collector of a driver; `where` is what of the extra predicate is left to decide on results."""
    kind = MultiwayCollector if setup.spec.reaches else PairCollector
    return kind(setup, codec, rows, where)
