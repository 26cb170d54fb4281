"""Which collector makes the results of a join."""

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.collector import Collector
from punctuated.join.output.multiway_collector import MultiwayCollector
from punctuated.join.output.pair_collector import PairCollector, Where
from punctuated.join.output.union_collector import UnionCollector
from punctuated.join.setup import DriverSetup
from punctuated.join.state.rows import RowStore
from punctuated.model.spec import JoinType


def choose_collector(setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], where: Where | None) -> Collector:
    """The collector of a driver; `where` is the part of the extra predicate that is left to decide on results."""
    if setup.spec.how is JoinType.UNION:
        return UnionCollector(setup, codec, rows)
    kind = MultiwayCollector if setup.spec.reaches else PairCollector
    return kind(setup, codec, rows, where)
