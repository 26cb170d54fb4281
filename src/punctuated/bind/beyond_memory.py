"""Which joins can work with less memory than their state needs: those that find tuples by their value."""

from punctuated.errors import AlgorithmError
from punctuated.model.algorithm import HW
from punctuated.model.spec import JoinSpec
from punctuated.model.window import CountWindow


def check_memory(spec: JoinSpec) -> None:
    """Raise if a join is given `memory=` but cannot work with a part of its tuples on disk."""
    if spec.memory is None:
        return
    name = spec.algorithm.name
    if not spec.left.key:
        raise AlgorithmError(
            "memory= is for joins with a key: without one, every tuple is compared with all others; give pt.stream "
            "key=, or use bucket_memory= in place of memory="
        )
    if spec.algorithm.structures is not None or (spec.reaches and spec.algorithm.walk not in (None, HW.walk)):
        raise AlgorithmError(
            f"algorithm={name!r} looks through whole windows for partners, so they must be in memory; use memory= with "
            "'auto', or leave it out"
        )
    if spec.shed is not None:
        raise AlgorithmError(
            "shed= leaves tuples out if memory does not suffice, memory= puts them on disk: give only one of them"
        )
    for stream in spec.streams:
        if isinstance(stream.window, CountWindow) and not stream.window.per_key:
            raise AlgorithmError(
                f"the window of stream {stream.name!r} always holds {stream.window.n:,} tuples, whatever memory= "
                "says; make it smaller, or use a window per key (pt.rows(n, per='key')), or leave out memory="
            )
