"""Which tactic carries out an algorithm."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from punctuated.keys.codec import KeyCodec
from punctuated.model.spec import JoinType
from punctuated.operator.multiway.tactic import Multiway
from punctuated.operator.pwjoin.tactic import PWJoin
from punctuated.operator.staged.join import MemoryJoin, StagedJoin
from punctuated.operator.tactic import Tactic
from punctuated.operator.windows.predicate import RangePredicate
from punctuated.operator.windows.tactic import WindowPair, WindowState
from punctuated.output.collector import Collector
from punctuated.output.members import MultiwayCollector, UnionCollector
from punctuated.output.pairs import PairCollector, Where
from punctuated.spill.overflow import InMemory, Overflow
from punctuated.spill.values import ColdValues
from punctuated.state.arrays import JoinState
from punctuated.state.multiway import MultiwayState
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import Scratch

if TYPE_CHECKING:
    from punctuated.operator.driver import JoinDriver


def choose_tactic(
    setup: DriverSetup,
    codec: KeyCodec,
    ranged: RangePredicate | None,
    allow: Callable[[int], None],
    *,
    filtered: bool,
) -> Tactic:
    """The tactic of a driver; `allow` is asked before more memory is taken, `filtered`: matches are decided later."""
    spec = setup.spec
    if spec.reaches:
        return Multiway(spec, codec, MultiwayState(spec, allow, filtered=filtered, hash_bits=setup.hash_bits))
    if spec.algorithm.structures is None:
        kind = MemoryJoin if spec.is_staged else PWJoin
        return kind(spec, codec, JoinState(spec, allow, filtered=filtered, hash_bits=setup.hash_bits))
    state = WindowState(spec, allow, filtered=filtered, hash_bits=setup.hash_bits)
    return WindowPair(spec, codec, state, ranged, setup.chooser)


# What a join does beyond its memory.


def choose_overflow(driver: "JoinDriver") -> Overflow:
    """A join with a policy works in stages; of others, values that were not touched for long go to disk.

    Without a limit everything is in memory.
    """
    spec, setup = driver.spec, driver.setup
    if not spec.may_overflow:
        return InMemory()
    tables = setup.tables or Scratch()
    if spec.is_staged:
        return StagedJoin(setup, driver.codec, driver.state, driver.rows, driver.statements, driver.collector, tables)
    assert spec.memory is not None
    return ColdValues(driver, spec.memory.allow(setup.place.n, setup.place.at_once), tables)


# Which collector makes the results of a join.


def choose_collector(setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], where: Where | None) -> Collector:
    """The collector of a driver; `where` is the part of the extra predicate that is left to decide on results."""
    if setup.spec.how is JoinType.UNION:
        return UnionCollector(setup, codec, rows)
    kind = MultiwayCollector if setup.spec.reaches else PairCollector
    return kind(setup, codec, rows, where)
