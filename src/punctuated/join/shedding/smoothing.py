"""What is measured batch by batch, smoothed: the last batch counts as much as all before it."""

from collections.abc import Sequence

_WEIGHT_OF_NEW = 0.5  # so a shift shows within a few batches


def smoothed(before: Sequence[float] | None, now: Sequence[float]) -> tuple[float, ...]:
    """Numbers after another batch; `before` is None at the first one.

    >>> smoothed(smoothed(None, [4.0, 8.0]), [6.0, 0.0])
    (5.0, 4.0)
    """
    old = now if before is None else before
    return tuple(_WEIGHT_OF_NEW * new + (1 - _WEIGHT_OF_NEW) * was for was, new in zip(old, now, strict=True))
