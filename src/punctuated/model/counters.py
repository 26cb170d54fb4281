"""The counters of a join: one table, from which the loop's totals, the metrics and all their exports are derived.

A counter that every stream has for itself has one column per stream: `tuples_left`, `tuples_right`. With more than two
streams, the columns are numbered from 1.
"""

from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from punctuated.model.rejection import BY_CODE
from punctuated.model.spec import Side

STREAMS = tuple(side.name.lower() for side in Side)


@cache  # asked for every counter of every batch
def per_stream(name: str, n_streams: int = len(STREAMS)) -> tuple[str, ...]:
    """The columns of what every stream has for itself.

    >>> per_stream("state")
    ('state_left', 'state_right')
    >>> per_stream("state", 3)
    ('state_1', 'state_2', 'state_3')
    """
    return tuple(f"{name}_{stream}" for stream in stream_labels(n_streams))


def stream_labels(n_streams: int) -> tuple[str, ...]:
    """The names of a join's streams in its metrics.

    >>> stream_labels(2), stream_labels(3)
    (('left', 'right'), ('1', '2', '3'))
    """
    return STREAMS if n_streams == len(STREAMS) else tuple(str(index + 1) for index in range(n_streams))


class Shown(Enum):
    """Whether the line of text about a batch shows a counter."""

    ALWAYS = auto()
    IF_ANY = auto()
    NEVER = auto()


@dataclass(frozen=True)
class Counter:
    """Something that a join counts from its start."""

    name: str
    what: str  # the help text of exports, and what the docs say
    per_stream: bool = False
    is_gauge: bool = False  # how many there are now; other counters only grow
    by_loop: bool = True  # kernels count it in their records; other counters are counted outside
    shown: Shown = Shown.IF_ANY
    exported_as: str | None = None  # where Prometheus needs a clearer name

    @property
    def columns(self) -> tuple[str, ...]:
        """Its names in metrics of a join of two."""
        return self.columns_of(len(STREAMS))

    def columns_of(self, n_streams: int) -> tuple[str, ...]:
        """Its names in metrics of a join of this many streams."""
        return per_stream(self.name, n_streams) if self.per_stream else (self.name,)

    @property
    def exported(self) -> str:
        """Its name in Prometheus, where names of totals say that they are totals."""
        return (self.exported_as or self.name) + ("" if self.is_gauge else "_total")


COUNTERS = (
    Counter(
        "state",
        "Tuples that are remembered.",
        per_stream=True,
        is_gauge=True,
        shown=Shown.NEVER,  # the line begins with it
        exported_as="state_tuples",
    ),
    Counter("tuples", "Tuples that came in.", per_stream=True, shown=Shown.NEVER),
    # A punctuation that goes to every bucket counts once.
    Counter(
        "punctuations",
        "Punctuations that came in; pt.unique() brings none.",
        per_stream=True,
        shown=Shown.NEVER,
        exported_as="punctuations_in",
    ),
    Counter("results", "Joined rows.", shown=Shown.ALWAYS),
    Counter("unmatched", "Unmatched rows of an outer or anti join."),
    Counter("punctuations_out", "Punctuations of the output.", shown=Shown.ALWAYS),
    Counter("purged", "Tuples forgotten because of a punctuation.", shown=Shown.ALWAYS),
    Counter("invalidated", "Tuples forgotten because of a window.", shown=Shown.ALWAYS),
    Counter("evicted", "Tuples forgotten because of a count window."),
    Counter("discarded", "Tuples joined and never stored: a punctuation was there first.", shown=Shown.ALWAYS),
    Counter("dropped", "Tuples not even joined: their value was over in the output."),
    Counter("rejected", "Rows that were late, ahead, corrupt or broke a promise."),
    *(
        Counter(reason.counter, f"Of these, rows with the reason {reason}.", per_stream=True, by_loop=False)
        for reason in BY_CODE
    ),
    Counter("null_keys", "Tuples without a key."),
    Counter("unprobed", "Tuples that did not probe, because the join sheds.", per_stream=True, by_loop=False),
    Counter("unstored", "Tuples that were not stored, because the join sheds.", per_stream=True, by_loop=False),
    Counter("punctuations_forgotten", "Punctuations beyond the cap of their memory.", by_loop=False),
)


def columns_of(n_streams: int) -> tuple[str, ...]:
    """The columns of all counters of a join of this many streams."""
    return tuple(column for counter in COUNTERS for column in counter.columns_of(n_streams))


COLUMNS = columns_of(len(STREAMS))


def loop_totals(*, of_streams: bool) -> tuple[str, ...]:
    """What the loop counts, in the order of the table: once per stream, or once for the join."""
    return tuple(each.name for each in COUNTERS if each.by_loop and not each.is_gauge and each.per_stream == of_streams)
