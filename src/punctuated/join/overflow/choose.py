"""What a join does when its state does not fit into memory."""

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.collector import Collector
from punctuated.join.overflow.overflow import InMemory, Overflow
from punctuated.join.overflow.staged.staged_join import StagedJoin
from punctuated.join.setup import DriverSetup
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.rows import RowStore
from punctuated.join.state.statements import Statements


def choose_overflow(
    setup: DriverSetup,
    codec: KeyCodec,
    state: JoinState,
    rows: tuple[RowStore, ...],
    statements: Statements,
    collector: Collector,
) -> Overflow:
    """A join with a policy goes in stages; others keep everything in memory."""
    if setup.spec.policy is None:
        return InMemory()
    return StagedJoin(setup, codec, state, rows, statements, collector)
