"""The join algorithms by name: switches over one piece of code, so that comparing them is fair (PW-57)."""

from dataclasses import dataclass, field, replace
from enum import Enum

from punctuated.errors import AlgorithmError
from punctuated.model.arguments import text


class Propagation(Enum):
    """When a value that is over in an input is announced as over in the output."""

    NONE = "none"
    REGULAR = "regular"  # PW-08: both streams ended it
    EARLY = "early"  # PW-32: or the ending stream's last tuple has left the window
    OWN_STATE = "own-state"  # PJ-09: or the ending stream has no such tuple in its state


@dataclass(frozen=True, slots=True)
class Walk:
    """How a join of any number of streams finds the results that a tuple completes."""

    finds: str  # candidates by "value" (a hash index), by a "scan" of all, or by "time"; a union finds "nothing"
    periods: str = "exact"  # times to look for candidates; "global", "local", "none": windows are checked afterwards
    cleans_every: int = 0  # tuples between two clean-ups, if tuples out of reach are forgotten only now and then


@dataclass(frozen=True, slots=True)
class Algorithm:
    """Which proofs an algorithm accepts for forgetting a tuple, and how it propagates."""

    name: str
    by_window: bool
    by_punctuation: bool
    propagation: Propagation
    # Structures of both windows (KN-06); None: the index of values. What is saved does not depend on them.
    structures: tuple[str, str] | None = field(default=None, repr=False)
    walk: Walk | None = field(default=None, repr=False)  # of a join of any number of streams
    family: str = field(default="pwjoin", repr=False)  # the folder of `operator` that carries it out


PWJOIN = Algorithm("pwjoin", by_window=True, by_punctuation=True, propagation=Propagation.EARLY)
WJOIN = Algorithm("wjoin", by_window=True, by_punctuation=False, propagation=Propagation.NONE)
PJOIN = Algorithm("pjoin", by_window=False, by_punctuation=True, propagation=Propagation.REGULAR)
SHJ = Algorithm("shj", by_window=False, by_punctuation=False, propagation=Propagation.NONE)

_CLEANED = 10_000  # tuples between two clean-ups of the baselines (WJ-33)
HW = replace(PWJOIN, name="hw", walk=Walk("value"), family="multiway")  # WJ-20
NLW = replace(HW, name="nlw", walk=Walk("scan"))  # WJ-11 … WJ-18
MW = replace(HW, name="mw", walk=Walk("time"))  # WJ-22 … WJ-24
GCA = replace(MW, name="gca", walk=Walk("time", "global"))  # WJ-26
LCA = replace(MW, name="lca", walk=Walk("time", "local"))  # WJ-27
RIPPLE = replace(WJOIN, name="ripple", walk=Walk("scan", "none", _CLEANED), family="multiway")
XJOIN = replace(WJOIN, name="xjoin", walk=Walk("value", "none", _CLEANED), family="multiway")
# Not a join, but the same loop: endings and watermarks count as in a join, and every tuple comes out.
UNION = replace(PWJOIN, name="union", propagation=Propagation.REGULAR, walk=Walk("nothing"), family="union")

MULTIWAY = {algorithm.name: algorithm for algorithm in (HW, NLW, MW, GCA, LCA, RIPPLE, XJOIN)}
# XJoin itself, in stages (PJ-16): for two streams without windows. With windows, the name is the baseline above.
STAGED_XJOIN = replace(SHJ, name="xjoin")

ALGORITHMS = {algorithm.name: algorithm for algorithm in (PWJOIN, WJOIN, PJOIN, SHJ)}
_BY_BOTH = Propagation.EARLY, Propagation.REGULAR, Propagation.NONE
_PROPAGATIONS = {
    **{algorithm.name: _BY_BOTH for algorithm in (PWJOIN, HW, NLW, MW, GCA, LCA)},
    "pjoin": (Propagation.REGULAR, Propagation.OWN_STATE, Propagation.NONE),
}


STRUCTURES = {"N": "nested loops", "H": "hash buckets", "B": "B+tree", "T": "T-tree"}


def pair(structures: str) -> Algorithm:
    """An asymmetric window join: `XY` has structure X on the left window and Y on the right window (KN-19).

    >>> pair("TN").structures
    ('T', 'N')
    """
    return replace(WJOIN, name=structures, structures=(structures[0], structures[1]), family="windows")


def is_pair(name: str) -> bool:
    """Whether this is the name of an asymmetric window join."""
    return len(name) == 2 and all(letter in STRUCTURES for letter in name)


def choose_algorithm(name: str, propagation: str | None = None) -> Algorithm:
    """The algorithm of that name; `auto` is `pwjoin`, which costs nothing where there are no punctuations (PW-36).

    >>> choose_algorithm("pjoin", propagation="own-state").propagation
    <Propagation.OWN_STATE: 'own-state'>
    """
    text(name, "algorithm", AlgorithmError, "its name")
    known = ALGORITHMS | MULTIWAY
    algorithm = PWJOIN if name == "auto" else pair(name) if is_pair(name) else known.get(name)
    if algorithm is None:
        raise AlgorithmError(
            f"unknown algorithm {name!r}; known: auto, {', '.join(known)}, and pairs of window structures such as "
            f"'TN', left and right, of {', '.join(f'{key} ({what})' for key, what in STRUCTURES.items())}"
        )
    if propagation is None:
        return algorithm
    allowed = {rule.value: rule for rule in _PROPAGATIONS.get(algorithm.name, (Propagation.NONE,))}
    if text(propagation, "propagation", AlgorithmError, "the name of a rule") not in allowed:
        raise AlgorithmError(
            f"algorithm {algorithm.name!r} has no propagation rule {propagation!r}; it has: {', '.join(allowed)}"
        )
    return replace(algorithm, propagation=allowed[propagation])
