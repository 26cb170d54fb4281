"""Which algorithm a join gets: the one that was named, or what `auto` means for such streams."""

from collections.abc import Sequence

from punctuated.bind.options import JoinOptions
from punctuated.errors import AlgorithmError
from punctuated.model.algorithm import STAGED_XJOIN, Algorithm, Propagation, choose_algorithm
from punctuated.model.policy import Policy
from punctuated.model.reach import Reach
from punctuated.model.spec import StreamSpec


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
