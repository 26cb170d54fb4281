"""The order of the objects in a batch, and the tuples that the oracle rejects before it processes the batch.

The order is (`ts`, tuple before punctuation, stream, contents), so nothing depends on how rows happened to arrive. A
tuple is *late* by the watermark at the start of the batch, and *ahead* by the newest time before it in this order. The
time of a late tuple counts, that of a tuple too far ahead does not.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from punctuated.model.batch import Row
from punctuated.model.punctuation import Punctuation
from punctuated.testing.reference_patterns import listed
from punctuated.testing.reference_state import MEANINGS, Arrival, Key, OracleState, OracleStream, Rejected


def sort_batch(state: OracleState, batches: Sequence[Sequence[Row | Punctuation]]) -> list[Arrival]:
    """The objects of a batch in the order of processing; tuples that are late or ahead are rejected."""
    arrived = [each for side, objects in enumerate(batches) for each in _arrivals(state.streams[side], objects)]
    in_order = sorted(arrived, key=lambda arrival: _order(state.streams[arrival.side], arrival))
    newest = [stream.newest for stream in state.streams]
    first_of_value = _first_of_values(state, in_order)
    kept, ahead = [], set()
    for arrival in in_order:
        ours, side, row = state.streams[arrival.side], arrival.side, arrival.row
        if row is not None and _is_ahead(ours, arrival.ts, newest[side]):
            state.out.rejected.append(Rejected(side, row, "ahead"))
            ahead.add((side, arrival.number))
            continue
        if arrival.flagged and (side, arrival.number) in ahead:
            continue
        if arrival.punctuation is None or arrival.punctuation.in_band:
            newest[side] = later(newest[side], arrival.ts)
            ours.batch_newest = later(ours.batch_newest, arrival.ts)
        if row is not None and arrival in first_of_value:
            ours.note_boundary(arrival)
        if row is not None and arrival.ts < ours.wm_at_start:
            state.out.rejected.append(Rejected(side, row, "late"))
            continue
        kept.append(arrival)
    return kept


def _arrivals(ours: OracleStream, objects: Sequence[Row | Punctuation]) -> Iterator[Arrival]:
    """The objects of a stream, one for each value that a punctuation or a flag ends."""
    side = ours.side
    for number, each in enumerate(objects):
        if isinstance(each, Punctuation):
            yield from (Arrival(side, p.ts, number, punctuation=p) for p in _one_by_one(ours, each))
            continue
        ts = ours.time_of(each)
        yield Arrival(side, ts, number, row=each)
        flag = ours.spec.flag
        flagged = flag is not None and each.values[ours.spec.columns.index(flag)]
        key = ours.key_of(each.values)
        if flagged and None not in key:
            yield Arrival(side, ts, number, punctuation=ours.ending(ts, key), flagged=True)


def _one_by_one(ours: OracleStream, p: Punctuation) -> list[Punctuation]:
    """A punctuation that names several values, as one punctuation for each of them."""
    if ours.meaning(p) != "values":
        return [p]
    keys = product(*(listed(pattern) for pattern in ours.key_of(p.patterns)))
    return [ours.ending(p.ts, key, p.in_band) for key in keys]


def _order(ours: OracleStream, arrival: Arrival) -> tuple[Any, ...]:
    """What objects of a batch are sorted by."""
    if arrival.punctuation is not None:
        meaning = ours.meaning(arrival.punctuation)
        patterns = ours.key_of(arrival.punctuation.patterns)
        content = [listed(pattern) for pattern in patterns] if meaning == "values" else repr(patterns)
        return arrival.ts, 1, arrival.side, MEANINGS.index(meaning), not arrival.punctuation.in_band, content
    assert arrival.row is not None
    spec = ours.spec
    first = [*([spec.order] if spec.order is not None else []), *spec.key]
    columns = first + [column for column in spec.columns if column not in first]
    values = [arrival.row.values[spec.columns.index(column)] for column in columns]
    return arrival.ts, 0, arrival.side, [(value is None, value) for value in values]


def _first_of_values(state: OracleState, in_order: Sequence[Arrival]) -> set[Arrival]:
    """The first tuple of each value that a stream brings in this batch, even if it is rejected.

    A key with a null equals no other key: each such tuple is the first of its value.
    """
    first: dict[tuple[int, Key], Arrival] = {}
    nulls = set()
    for arrival in in_order:
        if arrival.row is not None:
            key = state.streams[arrival.side].key_of(arrival.row.values)
            if None in key:
                nulls.add(arrival)
            else:
                first.setdefault((arrival.side, key), arrival)
    return nulls | set(first.values())


def _is_ahead(ours: OracleStream, ts: int, newest: int | None) -> bool:
    max_ahead = ours.spec.max_ahead_us
    return max_ahead is not None and newest is not None and ts > newest + max_ahead


def later(one: int | None, two: int) -> int:
    """The later one of two times, of which the first may be unknown."""
    return two if one is None else max(one, two)
