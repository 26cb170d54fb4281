"""The oracle of n streams: equal to that of two where there are two, and the laws it keeps on honest streams."""

from collections import Counter
from dataclasses import replace

from hypothesis import given

from punctuated.model.algorithm import PWJOIN, WJOIN, choose_algorithm
from punctuated.model.reach import reach_by_windows
from punctuated.model.spec import JoinSpec, JoinType
from punctuated.model.window import TimeWindow, Window
from punctuated.testing.multiway_reference import MultiwayReference
from punctuated.testing.reference import Reference
from punctuated.testing.reference_state import BatchOutput
from punctuated.testing.strategies import Case, cases

ALIKE = ("results", "result_ts", "punctuations", "rejected", "watermark", "stored", "forgotten")
COUNTED = ("purged", "invalidated", "discarded", "dropped")
ALGORITHMS = PWJOIN, choose_algorithm("pwjoin", "regular"), choose_algorithm("pwjoin", "none"), WJOIN


def plain_window(window: Window) -> Window:
    return TimeWindow(window.span_us) if isinstance(window, TimeWindow) else None


def with_reach(spec: JoinSpec) -> JoinSpec:
    """The same join, its windows of a length or none, given as a reach."""
    streams = tuple(replace(stream, window=plain_window(stream.window)) for stream in spec.streams)
    names, windows = [stream.name for stream in streams], [stream.window for stream in streams]
    return replace(spec, streams=streams, purge_threshold=1, reaches=(reach_by_windows(names, windows),))


def seen(output: BatchOutput) -> dict[str, object]:
    parts: dict[str, object] = {name: getattr(output, name) for name in (*ALIKE, *COUNTED)}
    for name in ("results", "result_ts", "punctuations", "rejected"):
        parts[name] = Counter(getattr(output, name))
    return parts


@given(cases(types=[JoinType.INNER], algorithms=ALGORITHMS))
def test_two_streams_are_joined_as_by_the_oracle_of_two(case: Case) -> None:
    spec = with_reach(case.spec)
    two, exact, by_value = Reference(spec), MultiwayReference(spec), MultiwayReference(spec, by_value=True)
    for batch in case.batches:
        wanted = seen(two.process(*batch))
        assert seen(exact.process(*batch)) == wanted
        assert seen(by_value.process(*batch)) == wanted
    assert seen(exact.end()) == seen(by_value.end()) == seen(two.end())
