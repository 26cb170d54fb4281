"""What a join does beyond its memory."""

from typing import TYPE_CHECKING

from punctuated.join.overflow.cold.cold_values import ColdValues
from punctuated.join.overflow.overflow import InMemory, Overflow
from punctuated.join.overflow.scratch import Scratch

if TYPE_CHECKING:
    from punctuated.join.driver import JoinDriver


def choose_overflow(driver: "JoinDriver") -> Overflow:
    """Without a limit everything is in memory; else values that were not touched for long go to disk."""
    memory = driver.spec.memory
    if memory is None:
        return InMemory()
    return ColdValues(driver, memory.share(driver.setup.place.n), Scratch())
