"""The oracle's memory of punctuations: what counts as one entry, and which entries are forgotten first (XD-12)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from punctuated.testing.reference_patterns import matches_all
from punctuated.testing.reference_state import Covered, Key, OraclePromise, PatternEnding

if TYPE_CHECKING:
    from punctuated.testing.reference_streams import StreamsReference


@dataclass
class MemoryEntry:
    """One unit of the memory; the smallest `age` (last touch, kind, order within its kind) is forgotten first."""

    age: tuple[int, int, Any]
    members: list[Any]


def forget_punctuations(join: "StreamsReference") -> int:
    """Forgets the entries beyond `max_punctuations` that were touched least recently; returns how many."""
    entries = sorted([*_value_entries(join), *_other_entries(join)], key=lambda entry: entry.age)
    surplus = entries[: max(0, len(entries) - join.spec.max_punctuations)]
    for entry in surplus:
        for key in entry.members:
            if key in join.values and join.values[key].punctuated:
                for stream in join.streams:
                    stream.last.pop(key, None)
        join.values = {key: value for key, value in join.values.items() if key not in entry.members}
        for piece in (each for each in join.covered if each.punctuated and each in entry.members):
            for stream in join.streams:
                under = [k for k in stream.last if k not in join.values and matches_all(piece.patterns, k)]
                stream.last = {key: ts for key, ts in stream.last.items() if key not in under}
        join.covered = [each for each in join.covered if each not in entry.members]
        for stream in join.streams:
            stream.ranges = [each for each in stream.ranges if each not in entry.members]
            stream.promises = [each for each in stream.promises if each not in entry.members]
    return len(surplus)


def _value_entries(join: "StreamsReference") -> list[MemoryEntry]:
    entries: list[MemoryEntry] = []
    for key, value in sorted(join.values.items(), key=lambda item: item[0]):
        if entries and _extends_run(join, entries[-1].members[-1], key):
            run = entries[-1]
            run.members.append(key)
            run.age = max(run.age[0], value.touched), 0, run.members[0]
        else:
            entries.append(MemoryEntry((value.touched, 0, key), [key]))
    for entry in entries:
        for key in entry.members:
            join.values[key].touched = entry.age[0]  # a run has one age, even if it is cut later
    return entries


def _extends_run(join: "StreamsReference", previous: Key, key: Key) -> bool:
    """Whether both are punctuated in the output, consecutive integers, and ended with effect by the same streams."""
    one, two = join.values[previous], join.values[key]
    if not all(ending.in_effect for value in (one, two) for ending in value.endings.values()):
        return False
    is_integer = len(key) == 1 and type(key[0]) is int if join.integer_key is None else join.integer_key
    alike = one.punctuated and two.punctuated and one.endings.keys() == two.endings.keys()
    return is_integer and alike and bool(previous[0] + 1 == key[0])


def _other_entries(join: "StreamsReference") -> list[MemoryEntry]:
    """Pieces under ranges, then pending ranges and promises in the order of arrival."""
    arrived: list[PatternEnding | OraclePromise] = []
    for stream in join.streams:
        arrived += [*stream.ranges, *stream.promises]
    pieces: list[Covered] = join.covered
    return [
        *(MemoryEntry((each.touched, 1, place), [each]) for place, each in enumerate(pieces)),
        *(MemoryEntry((each.touched, 2, each.arrival), [each]) for each in arrived),
    ]
