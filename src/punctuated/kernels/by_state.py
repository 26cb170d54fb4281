"""Kernels with one name and a body for each kind of state: what depends on how many streams a join has.

The compiler knows the type of the state, and so which body a call means. A body is named like the kernel here, with a
suffix for its state, so that a search for `purge_for_ending` finds them all:

    kernel                 two streams: ..._of_two   any number: ..._of_many
    n_streams              purge                     multiway.layout
    leaving_watermark      purge                     multiway.forget
    purge_for_ending       purge                     multiway.forget
    purge_for_stream_end   purge                     multiway.forget
    purge_finished         purge                     multiway.forget
    advance                invalidate                multiway.forget
    sweep                  invalidate                multiway.forget
    tidy                   invalidate                multiway.forget
    settle                 invalidate                multiway.forget
    deadline_due           propagate                 multiway.propagate
    propagate              propagate                 multiway.propagate

All other kernels that take `AnyState` serve joins of two streams and of more. See docs/decisions/013.
"""

from punctuated.kernels.jit import chosen_by_state
from punctuated.kernels.layout import AnyState


@chosen_by_state
def n_streams(state: AnyState) -> int:
    """How many streams the join has; a constant where there are two."""
    raise NotImplementedError


@chosen_by_state
def leaving_watermark(state: AnyState, side: int) -> int:
    """The watermark that proves that a tuple of `side` has left its window: that of the stream it waits for."""
    raise NotImplementedError


@chosen_by_state
def deadline_due(state: AnyState, side: int, time: int) -> int:
    """The moment of the batch's clock at which a deadline at `time` is met; FOREVER if not in this batch."""
    raise NotImplementedError


@chosen_by_state
def advance(state: AnyState, side: int) -> None:
    """Move the watermark of `side` on; tuples of the others leave their windows, with the last of them ended values."""
    raise NotImplementedError


@chosen_by_state
def sweep(state: AnyState, side: int) -> None:
    """Forget all tuples of `side` that are out of their windows, whatever the order of arrival."""
    raise NotImplementedError


@chosen_by_state
def tidy(state: AnyState) -> None:
    """Forget, at the end of a batch, all tuples that are out of their windows, whatever the order of arrival."""
    raise NotImplementedError


@chosen_by_state
def settle(state: AnyState, index: int) -> None:
    """Forget the tuples of a value that are proved to match nothing, before someone asks which of them are stored."""
    raise NotImplementedError


@chosen_by_state
def purge_for_ending(state: AnyState, side: int, index: int) -> None:
    """Forget the tuples of a value that waited for `side` alone, whose ending of the value takes effect (PW-25)."""
    raise NotImplementedError


@chosen_by_state
def purge_for_stream_end(state: AnyState, side: int, index: int, ts: int) -> None:
    """Forget the tuples of a value that waited for `side` alone, because that stream has ended at `ts`."""
    raise NotImplementedError


@chosen_by_state
def purge_finished(state: AnyState, index: int) -> None:
    """Forget the tuples of a value on all sides, because the value is over in the output."""
    raise NotImplementedError


@chosen_by_state
def propagate(state: AnyState, side: int, index: int) -> None:
    """Punctuate the output for a value that `side` has ended with effect, if a rule allows it by now."""
    raise NotImplementedError
