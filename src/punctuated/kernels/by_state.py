"""What depends on how many streams there are: the type of the state says which function it is.

All other kernels that take `AnyState` serve two streams and more. Those for two streams stand in `purge`, `propagate`
and `invalidate`. A state of another type registers its own, each with `@name.of(its type)`.
"""

from punctuated.kernels.jit import chosen_by_state
from punctuated.kernels.layout import AnyState


@chosen_by_state
def n_streams(state: AnyState) -> int:
    """How many streams there are; for two of them the compiler knows."""
    raise NotImplementedError


@chosen_by_state
def leaving_watermark(state: AnyState, side: int) -> int:
    """The watermark that proves that a tuple of `side` has left its window: that of the stream it waits for."""
    raise NotImplementedError


@chosen_by_state
def deadline_due(state: AnyState, side: int, time: int) -> int:
    """The moment of the batch's clock at which `leaving_watermark` gets beyond `time`; FOREVER if not in this batch."""
    raise NotImplementedError


@chosen_by_state
def advance(state: AnyState, side: int) -> None:
    """The side's watermark may move on, and others' tuples leave their windows, with the last of them ended values."""
    raise NotImplementedError


@chosen_by_state
def sweep(state: AnyState, side: int) -> None:
    """Forget all of the side's tuples that are out of their windows, whatever the order of arrival."""
    raise NotImplementedError


@chosen_by_state
def tidy(state: AnyState) -> None:
    """End of a batch: forget what is out of its windows, whatever the order of arrival."""
    raise NotImplementedError


@chosen_by_state
def settle(state: AnyState, index: int) -> None:
    """Before it is asked whether tuples of a value are stored: forget those of which that is proved already."""
    raise NotImplementedError


@chosen_by_state
def purge_for_ending(state: AnyState, side: int, index: int) -> None:
    """An ending of a value by `side` has taken effect: forget what waits for nothing else (PW-25)."""
    raise NotImplementedError


@chosen_by_state
def purge_for_stream_end(state: AnyState, side: int, index: int, ts: int) -> None:
    """The stream of `side` has ended at `ts`: forget the tuples of a value that wait for nothing else."""
    raise NotImplementedError


@chosen_by_state
def purge_finished(state: AnyState, index: int) -> None:
    """A value is over in the output: forget what is left of it, on all sides."""
    raise NotImplementedError


@chosen_by_state
def propagate(state: AnyState, side: int, index: int) -> None:
    """Punctuate the output for a value that `side` has ended with effect, if a rule allows it by now."""
    raise NotImplementedError
