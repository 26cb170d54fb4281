"""The two inputs of a join. Symmetric code says `ours` and `other`; `LEFT` and `RIGHT` appear only at the edges."""

from enum import IntEnum


class Side(IntEnum):
    """Position of a stream in the join; also the index of its arrays."""

    LEFT = 0
    RIGHT = 1

    @property
    def other(self) -> "Side":
        return Side(1 - self)


LEFT, RIGHT = Side.LEFT, Side.RIGHT
