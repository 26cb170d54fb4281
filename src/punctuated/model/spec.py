"""The specification of a join: plain data, shared by the oracle, the operators and the engines.

Symmetric code says `ours` and `other`; `LEFT` and `RIGHT` appear only at the edges.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from punctuated.errors import AlgorithmError, ShedError, StreamError
from punctuated.model.algorithm import PWJOIN, Algorithm, Propagation
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.reach import Reach
from punctuated.model.shed import Shed
from punctuated.model.window import CountWindow, UntilWindow, Window

DEFAULT_MAX_PUNCTUATIONS = 1_000_000
MOST_STREAMS = 8
MOST_BUCKETS = 1024  # of a join
MOST_ROUNDS = 256  # buckets that take turns because memory is limited
DEFAULT_NODE_SIZE, DEFAULT_BUCKET_SIZE = 100, 10


class Side(IntEnum):
    """Position of a stream in the join; also the index of its arrays."""

    LEFT = 0
    RIGHT = 1

    @property
    def other(self) -> "Side":
        return Side(1 - self)


LEFT, RIGHT = Side.LEFT, Side.RIGHT


class JoinType(StrEnum):
    """What comes out of a join."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    UNION = "union"  # of any number of streams: nothing is joined, every tuple comes out; see `bind.union`

    def preserves(self, side: int) -> bool:
        """Whether an unmatched tuple of `side` comes out; joins of more than two streams have none."""
        return self not in (JoinType.INNER, JoinType.UNION) and self in _PRESERVING[Side(side)]


JOINS_OF_TWO = tuple(how for how in JoinType if how is not JoinType.UNION)


_PRESERVING = {
    Side.LEFT: (JoinType.LEFT, JoinType.FULL, JoinType.ANTI),
    Side.RIGHT: (JoinType.RIGHT, JoinType.FULL),
}


_JOIN_TYPE_NAMES: Mapping[str, JoinType] = {
    "inner": JoinType.INNER,
    "left": JoinType.LEFT,
    "leftouter": JoinType.LEFT,
    "right": JoinType.RIGHT,
    "rightouter": JoinType.RIGHT,
    "full": JoinType.FULL,
    "outer": JoinType.FULL,
    "fullouter": JoinType.FULL,
    "semi": JoinType.SEMI,
    "leftsemi": JoinType.SEMI,
    "anti": JoinType.ANTI,
    "leftanti": JoinType.ANTI,
}


def parse_join_type(name: str) -> JoinType:
    """The join type of that name, in Spark's spellings too (`left_outer`, `leftsemi`).

    >>> parse_join_type("left_outer")
    <JoinType.LEFT: 'left'>
    """
    join_type = _JOIN_TYPE_NAMES.get(str(name).lower().replace("_", "").replace(" ", ""))
    if join_type is None:
        known = ", ".join(dict.fromkeys(known.value for known in _JOIN_TYPE_NAMES.values()))
        raise AlgorithmError(f"unknown join type how={name!r}; known: {known}")
    return join_type


class OnViolation(StrEnum):
    """What happens to a tuple that breaks a promise of its own stream."""

    REJECT = "reject"
    FAIL = "fail"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """One input: its attributes, its window, its bounds and the constraints it declares."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    time: str
    window: Window = None
    lateness_us: int = 0
    max_ahead_us: int | None = None
    on_violation: OnViolation = OnViolation.REJECT
    flag: str | None = None
    unique: bool = False
    clustered: bool = False
    order: str | None = None
    idle_after_us: int | None = None  # after this much silence, the watermark follows the other stream's
    punctuated: bool = False  # it has some source of punctuations
    ends_any: bool = False  # a source (patterns or endings) may end values that have no tuple
    is_output: bool = False  # it is the output of another join; its column of time is not shown

    def __post_init__(self) -> None:
        if self.lateness_us < 0:
            raise StreamError(f"stream {self.name!r}: lateness cannot be negative")
        if self.max_ahead_us is not None and self.max_ahead_us < 0:
            raise StreamError(f"stream {self.name!r}: max_ahead cannot be negative")
        if self.idle_after_us is not None and self.idle_after_us < 0:
            raise StreamError(f"stream {self.name!r}: idle_after cannot be negative")


@dataclass(frozen=True, slots=True)
class JoinSpec:
    """The inputs of a join, and how they are joined."""

    streams: tuple[StreamSpec, ...]
    how: JoinType = JoinType.INNER
    algorithm: Algorithm = PWJOIN
    purge_threshold: int = 1
    max_punctuations: int = DEFAULT_MAX_PUNCTUATIONS
    bucket_bytes: int | None = None  # the most that one bucket may remember
    memory: Memory | None = None  # the most that is kept in memory; the rest goes to disk
    policy: Policy | None = None  # of a staged join; None: it does everything at once
    selected: tuple[str, ...] | None = None  # columns of the results beside the key; None for all
    shed: Shed | None = None  # what to leave out when resources do not suffice
    adaptive: bool = False  # structures of the windows may change while the join runs
    node_size: int = DEFAULT_NODE_SIZE  # of the trees on windows
    bucket_size: int = DEFAULT_BUCKET_SIZE  # of the hash buckets on windows
    # How far apart the members of a result may be: one of these must hold. Empty: the windows of two streams decide.
    reaches: tuple[Reach, ...] = ()

    def __post_init__(self) -> None:
        if self.purge_threshold < 1:
            raise AlgorithmError(f"purge_threshold={self.purge_threshold}: give 1 (eager) or more (lazy)")
        if self.max_punctuations < 1:
            raise AlgorithmError(f"max_punctuations={self.max_punctuations}: give 1 or more")
        if self.node_size < 2:
            raise AlgorithmError(f"node_size={self.node_size}: a node of a tree holds 2 entries or more")
        if self.bucket_size < 1:
            raise AlgorithmError(f"bucket_size={self.bucket_size}: a hash bucket holds 1 tuple or more")
        if self.shed is not None and self.how is not JoinType.INNER:
            raise ShedError(
                f"how={self.how.value!r}: a tuple that comes out unmatched could be matched by one that was shed; "
                "use an inner join, or leave out shed="
            )

    @property
    def sides(self) -> range:
        """The indices of the streams, and of everything that there is for each stream."""
        return range(len(self.streams))

    @property
    def left(self) -> StreamSpec:
        return self.streams[Side.LEFT]

    @property
    def right(self) -> StreamSpec:
        return self.streams[Side.RIGHT]

    @property
    def everywhere(self) -> tuple[int, ...]:
        """The sides whose tuples go to every bucket, because there is no key to spread them by.

        The remaining side is spread, and unmatched rows come from it. Tuples of a union meet nothing.
        """
        if self.how is JoinType.UNION:
            return ()
        spread = Side.RIGHT if self.how is JoinType.RIGHT else Side.LEFT
        return () if self.left.key else tuple(side for side in self.sides if side != spread)

    @property
    def may_spill(self) -> bool:
        """Whether a part of the state may be on disk."""
        return self.memory is not None or self.policy is not None

    @property
    def is_staged(self) -> bool:
        """Whether results with tuples on disk come later, in stages of their own."""
        return self.policy is not None

    @property
    def family(self) -> str:
        """The folder of `operator` that carries out this join."""
        if self.how is JoinType.UNION:
            return "union"
        return "staged" if self.is_staged else "multiway" if self.reaches else self.algorithm.family

    @property
    def own_windows(self) -> bool:
        """Whether tuples of any stream have windows of their own."""
        return any(isinstance(stream.window, UntilWindow) for stream in self.streams)

    @property
    def follows_others(self) -> bool:
        """Whether a silent stream's watermark may follow those of the others."""
        return any(stream.idle_after_us is not None for stream in self.streams)

    @property
    def counts_whole_streams(self) -> bool:
        """Whether a window holds the last tuples of a whole stream, so that one bucket must see all of them."""
        windows = [stream.window for stream in self.streams]
        return any(isinstance(window, CountWindow) and not window.per_key for window in windows)

    def may_end_early(self, side: int) -> bool:
        """Whether `side` may end a value of the output before the others, once its last tuple is gone (PW-32).

        Not if tuples of another side with that value would still come out unmatched.
        """
        has_early_rule = self.algorithm.propagation in (Propagation.EARLY, Propagation.OWN_STATE)
        return has_early_rule and not any(self.how.preserves(other) for other in self.sides if other != side)
