"""What a join does beyond its memory."""

from typing import TYPE_CHECKING

from punctuated.join.overflow.cold.cold_values import ColdValues
from punctuated.join.overflow.overflow import InMemory, Overflow
from punctuated.join.overflow.scratch import Scratch
from punctuated.join.overflow.staged.staged_join import StagedJoin

if TYPE_CHECKING:
    from punctuated.join.driver import JoinDriver


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
