"""The oracle's memory of punctuations: what counts as one entry, and which entries are forgotten first (XD-12).

An entry is a run of consecutive integers that were punctuated alike, any other value, a piece of values under ranges, a
pending range or a promise.
"""

from dataclasses import dataclass
from typing import Any

from punctuated.testing.reference_patterns import matches_all
from punctuated.testing.reference_state import Covered, Key, OraclePromise, OracleState, PatternEnding


@dataclass
class MemoryEntry:
    """An entry of the memory; that of the smallest `age` (last touch, kind, order in its kind) is forgotten first."""

    age: tuple[int, int, Any]
    members: list[Any]


def forget_punctuations(state: OracleState) -> int:
    """Forget the entries beyond `max_punctuations` that were touched least recently; returns how many there were."""
    entries = sorted([*_value_entries(state), *_other_entries(state)], key=lambda entry: entry.age)
    surplus = entries[: max(0, len(entries) - state.spec.max_punctuations)]
    for entry in surplus:
        for key in entry.members:
            if key in state.values and state.values[key].punctuated:
                for stream in state.streams:
                    stream.last.pop(key, None)
        state.values = {key: value for key, value in state.values.items() if key not in entry.members}
        for piece in (each for each in state.covered if each.punctuated and each in entry.members):
            for stream in state.streams:
                under = [k for k in stream.last if k not in state.values and matches_all(piece.patterns, k)]
                stream.last = {key: ts for key, ts in stream.last.items() if key not in under}
        state.covered = [each for each in state.covered if each not in entry.members]
        for stream in state.streams:
            stream.ranges = [each for each in stream.ranges if each not in entry.members]
            stream.promises = [each for each in stream.promises if each not in entry.members]
    return len(surplus)


def _value_entries(state: OracleState) -> list[MemoryEntry]:
    entries: list[MemoryEntry] = []
    for key, value in sorted(state.values.items(), key=lambda item: item[0]):
        if entries and _extends_run(state, entries[-1].members[-1], key):
            run = entries[-1]
            run.members.append(key)
            run.age = max(run.age[0], value.touched), 0, run.members[0]
        else:
            entries.append(MemoryEntry((value.touched, 0, key), [key]))
    for entry in entries:
        for key in entry.members:
            state.values[key].touched = entry.age[0]  # a run has one age, even if it is cut later
    return entries


def _extends_run(state: OracleState, previous: Key, key: Key) -> bool:
    """Whether a value belongs to the run of the previous one.

    Both are consecutive integers, punctuated in the output, and ended with effect by the same streams.
    """
    one, two = state.values[previous], state.values[key]
    if not all(ending.in_effect for value in (one, two) for ending in value.endings.values()):
        return False
    is_integer = len(key) == 1 and type(key[0]) is int if state.integer_key is None else state.integer_key
    alike = one.punctuated and two.punctuated and one.endings.keys() == two.endings.keys()
    return is_integer and alike and bool(previous[0] + 1 == key[0])


def _other_entries(state: OracleState) -> list[MemoryEntry]:
    """The entries of values under ranges, then those of pending ranges and promises in the order of arrival."""
    arrived: list[PatternEnding | OraclePromise] = []
    for stream in state.streams:
        arrived += [*stream.ranges, *stream.promises]
    pieces: list[Covered] = state.covered
    return [
        *(MemoryEntry((each.touched, 1, position), [each]) for position, each in enumerate(pieces)),
        *(MemoryEntry((each.touched, 2, each.arrival), [each]) for each in arrived),
    ]
