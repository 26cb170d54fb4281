"""Which joins can work with less memory than their state needs: those that find tuples by their value."""

from collections.abc import Sequence

from punctuated.bind.options import JoinOptions
from punctuated.errors import AlgorithmError
from punctuated.model.algorithm import HW, STAGED_XJOIN, Algorithm, Propagation, choose_algorithm
from punctuated.model.policy import Policy
from punctuated.model.reach import Reach
from punctuated.model.spec import JoinSpec, JoinType, OnViolation, StreamSpec
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


# Staged joins: which joins work in stages, and what they cannot do.


def is_staged(name: str, streams: Sequence[StreamSpec], ways: Sequence[Reach], options: JoinOptions) -> bool:
    """Whether results with tuples on disk come later, in stages of their own.

    XJoin of two streams without windows always works like that; with windows or more streams, its name means the
    W-join's baseline. PJoin does if it is given a memory or a policy.
    """
    policy = options.get("policy")
    if policy is not None and not isinstance(policy, Policy):
        raise AlgorithmError(f"policy={policy!r}: give pt.Policy(…)")
    plain = len(streams) == 2 and not ways and all(stream.window is None for stream in streams)
    if name == "xjoin" and plain:
        return True
    if name == "pjoin" and len(streams) == 2 and (policy is not None or options.get("memory") is not None):
        return True
    if policy is not None:
        raise AlgorithmError(
            f"policy= is for algorithm='pjoin', and for 'xjoin' of two streams without windows, which do their work in "
            f"stages; {name!r} does everything at once: leave it out"
        )
    return False


def choose_staged(name: str, propagation: str | None) -> Algorithm:
    """The algorithm of that name; PJoin uses Theorem 1, unless the both-sides rule is asked for."""
    if name == "pjoin":
        return choose_algorithm(name, propagation or Propagation.OWN_STATE.value)
    if propagation not in (None, Propagation.NONE.value):
        raise AlgorithmError(f"propagation={propagation!r}: 'xjoin' does not know punctuations; use 'pjoin'")
    return STAGED_XJOIN


def check_staged(spec: JoinSpec) -> None:
    """Raise if a staged join is asked for something it cannot do."""
    name = spec.algorithm.name
    if spec.how is not JoinType.INNER:
        raise AlgorithmError(
            f"how={spec.how.value!r}: a match may still be on disk, so {name!r} in stages is always an inner join; "
            "use another algorithm, or leave memory= and policy= out"
        )
    if spec.purge_threshold != 1:
        raise AlgorithmError("give purge_threshold= here by policy=pt.Policy(purge='lazy', purge_threshold=…)")
    if spec.shed is not None:
        raise AlgorithmError(f"shed= leaves tuples out, but {name!r} in stages puts them on disk: use only one of both")
    if not spec.left.key:
        raise AlgorithmError(f"{name!r} in stages finds tuples by their keys: give both streams key=")
    for stream in spec.streams:
        if stream.window is not None:
            raise AlgorithmError(
                f"stream {stream.name!r} has a window, but {name!r} in stages has none; use 'pwjoin', which has both"
            )
        if stream.on_violation is OnViolation.ACCEPT:
            raise AlgorithmError(
                f"stream {stream.name!r} has on_violation='accept', but {name!r} in stages relies on punctuations; "
                "use 'reject' or 'fail'"
            )
