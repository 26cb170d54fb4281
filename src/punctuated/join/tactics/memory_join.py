"""The first stage of a join in stages: tuples in memory meet as in PWJoin; who purges and propagates stands aside."""

from punctuated.join.state.statements import Statements
from punctuated.join.tactics.pwjoin import PWJoin


class MemoryJoin(PWJoin):
    """The memory join, which is always on (PJ-13)."""

    def forget_keys(self, statements: Statements) -> None:
        """Keys keep their numbers: tuples on disk have them."""
