"""A stretch of a batch's objects as arrays: what they touch, and how far they let time go."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from punctuated.errors import AlgorithmError
from punctuated.kernels import layout as lay
from punctuated.kernels.order import unpack_object
from punctuated.kernels.spilled import end_stream_for_values
from punctuated.keys.codec import NumberedKeys
from punctuated.keys.pattern_match import match_columns
from punctuated.model.memory import Allowance, Memory
from punctuated.model.pattern import Pattern
from punctuated.model.spec import JoinSpec
from punctuated.model.window import CountWindow
from punctuated.punctuations.pending_ranges import Pending
from punctuated.snapshot.parts import NO_INTS, Content, Ints, Loaded, Part
from punctuated.spill.blocks import ColdBlocks
from punctuated.spill.index import Homes, Taken, place_of
from punctuated.spill.moves import (
    bring_back,
    coldest_values,
    due_timers,
    first_ends,
    is_watched,
    last_ends,
    take_out,
    watermarks_at,
)
from punctuated.spill.policy import Stored
from punctuated.spill.portion import Portion
from punctuated.state.budget import tuples_within
from punctuated.state.multiway import MultiwayState
from punctuated.storage.scratch import TableStore

_TUPLE = -1  # in the place of the kind of a punctuation
_KEPT = 0.6  # of what may be in memory, after others were put away
_STRETCH = 3  # a stretch brings, and brings back, at most this part of it


@dataclass(frozen=True)
class Stretch:
    """Objects in the order of processing."""

    side: Ints
    ts: Ints
    code: Ints
    kind: Ints  # of a punctuation, or that it is a tuple
    touches: Ints  # places of the objects that speak of one value

    @staticmethod
    def of(order: Ints, inputs: Sequence[lay.Objects]) -> "Stretch":
        """The objects of a part of the order."""
        place, is_punctuation, side = unpack_object(order)
        ts, code, kind = (np.empty(order.size, np.int64) for _ in range(3))
        names_value = np.zeros(order.size, np.bool_)
        for of, objects in enumerate(inputs):
            ours = (side == of) & (is_punctuation == 0)
            at = place[ours]
            ts[ours], code[ours], kind[ours] = objects.ts[at], objects.code[at], _TUPLE
            names_value[ours] = objects.status[at] & lay.NULL_KEY == 0
            said = (side == of) & (is_punctuation != 0)
            at = place[said]
            ts[said], code[said] = objects.punctuation_ts[at], objects.punctuation_code[at]
            kind[said] = objects.punctuation_kind[at]
            names_value[said] = kind[said] <= lay.ANNOUNCE_VALUE
        return Stretch(side, ts, code, kind, np.flatnonzero(names_value))

    def until_stream_ends(self) -> int:
        """How many objects come before the end of a stream; that itself comes alone."""
        ends = np.flatnonzero(self.kind == lay.END_STREAM)
        return self.kind.size if not ends.size else max(1, int(ends[0]))

    def first(self, n: int) -> "Stretch":
        """Its first objects."""
        touches = self.touches[: np.searchsorted(self.touches, n)]
        return Stretch(self.side[:n], self.ts[:n], self.code[:n], self.kind[:n], touches)

    def floors(self, n_streams: int) -> list[int]:
        """The latest times up to which each stream says that it is over, but for its end."""
        floors = np.full(n_streams, lay.NEVER)
        said = self.kind == lay.SET_FLOOR
        np.maximum.at(floors, self.side[said], self.code[said])
        return [int(floor) for floor in floors]


# Cold values: a join keeps in memory what it touches, and what was not touched for long is on disk.
#
# Nothing that comes out of the join tells. Before objects are processed, everything that they can touch comes back:
# the values that they name, those whose timers may go off, and those whose tuples may leave their windows in a way
# that is seen outside. Whoever ends a range asks for its values when that takes effect. Kernels know nothing of it.
#
# The end of a stream touches all values. Those on disk are told after it, portion by portion.


def _distinct(places: Ints) -> Ints:
    """Ascending, each once: `np.unique` takes longer for many numbers."""
    places = np.sort(places)
    return np.asarray(places[np.diff(places, prepend=-1) != 0])


class _StreamEnd(NamedTuple):
    side: int
    ts: int
    watermark: int  # of the stream, before it


class ColdValues:
    """Keeps a join within its memory."""

    def __init__(self, stored: Stored, allowed: Allowance, store: TableStore) -> None:
        self._stored, self._allowed, self._state, self.store = stored, allowed, stored.state, store
        arrays, width = stored.state.arrays, stored.state.width
        remembered = width if arrays.endings.size else 0, width if arrays.last_ends.size else 0
        self.blocks = ColdBlocks(store, [rows.schema for rows in stored.rows], remembered)
        self.parts: dict[str, Part] = {"cold": self}
        self._order, self._inputs = NO_INTS, list[lay.Objects]()
        self._recent = [NO_INTS]  # codes that this batch has touched since values were last put away
        self._homes = Homes()
        self._ending: _StreamEnd | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the index of what is on disk."""
        return self.blocks.nbytes

    # A batch

    def begin(self, order: Ints, inputs: Sequence[lay.Objects]) -> None:
        """A batch begins; one without objects may still let time go on."""
        self._order, self._inputs = order, list(inputs)
        if not order.size:
            self._meet(Stretch.of(order, inputs), NO_INTS, is_last=True)

    def before(self, at: int, stop: int) -> int:
        """Bring back what the next objects may touch; how many they are depends on how much that is."""
        stretch, places = Stretch.of(self._order[at : min(stop, at + self._portion)], self._inputs), NO_INTS
        if self.blocks:
            stretch = stretch.first(stretch.until_stream_ends())
            touched_by, places = self._touched(stretch)
            n = self._fitting(stretch, touched_by, places)
            stretch, places = stretch.first(n), places[touched_by < n]
        ready = at + stretch.kind.size
        self._meet(stretch, places, is_last=ready == self._order.size)
        return ready

    def after(self, at: int) -> None:
        """Tell values on disk of the end of a stream, and put away what is too much.

        After the last object the clock runs to the end of the batch: what that needs has to stay until `finish`.
        """
        is_last = at == self._order.size
        if self._ending is not None:
            ending, self._ending = self._ending, None
            self._end_stream(ending)
            if is_last:
                self._meet(Stretch.of(self._order[at:], self._inputs), NO_INTS, is_last=True)
        if not is_last:
            self._make_room(self._allowed.working)

    def finish(self) -> None:
        """The same at the end of the batch, for the time between batches.

        What was touched is forgotten then: what stays in memory must not depend on who has processed earlier batches.
        """
        self._make_room(self._allowed.resting, is_last=True)
        self._recent = [NO_INTS]
        self._order, self._inputs = NO_INTS, []

    # What is needed

    def _tuples(self, memory: Memory) -> int:
        return tuples_within(memory, self._state, max(rows.bytes_per_row for rows in self._stored.rows))

    @property
    def _portion(self) -> int:
        return max(1, self._tuples(self._allowed.working) // _STRETCH)

    def _touched(self, stretch: Stretch) -> tuple[Ints, Ints]:
        """The places on disk that objects touch, and the first object that does."""
        codes, first = np.unique(stretch.code[stretch.touches], return_index=True)
        which, places = self.blocks.find(self._stored.codec.addresses(codes))
        return stretch.touches[first[which]], places

    def _fitting(self, stretch: Stretch, touched_by: Ints, places: Ints) -> int:
        """How many of the objects touch no more than a portion of what is on disk, at least one."""
        volume = np.bincount(touched_by, self.blocks.volume(places), minlength=stretch.kind.size)
        return max(1, int(np.searchsorted(np.cumsum(volume), self._portion, side="right")))

    def _meet(self, stretch: Stretch, touched: Ints, *, is_last: bool) -> None:
        """Bring back what these objects touch, by its places, and what falls due before they are done."""
        state = self._state
        self._recent.append(stretch.code[stretch.touches])
        if not self.blocks:
            return
        moment = max([*stretch.ts[-1:].tolist(), *(state.sides["batch_newest"].tolist() if is_last else ())])
        watermarks = watermarks_at(state, moment, stretch.floors(state.n_streams))
        timed = [due_timers(state, watermarks)]
        if stretch.kind[:1].tolist() == [lay.END_STREAM]:
            timed += self._expect_end(int(stretch.side[0]), int(stretch.ts[0]))
        codes = np.unique(state.arrays.values["code"][np.concatenate(timed)])
        _, places = self.blocks.find(self._stored.codec.addresses(codes))
        due = self.blocks.due(first_ends(state, watermarks))
        due = self.blocks.whole(due) if due.size else due
        self._bring_back(_distinct(np.concatenate([touched, places, due])))

    def _expect_end(self, side: int, ts: int) -> list[Ints]:
        """A stream is about to end: its endings that wait take effect; values on disk are told afterwards."""
        state = self._state
        if state.sides["end_ts"][side] != lay.FOREVER:
            return []
        before = watermarks_at(state, ts, [lay.NEVER] * state.n_streams)
        self._ending = _StreamEnd(side, ts, before[side])
        return [state.arrays.pending[side]["value"][: int(state.sides["n_pending"][side])]]

    def before_range(self, patterns: tuple[Pattern, ...]) -> None:
        """A range is about to take effect: its values come back."""
        codec = self._stored.codec
        if not self.blocks:
            return
        if isinstance(codec, NumberedKeys):
            found = [self._matching(number, patterns) for number in self.blocks.numbers()]
        else:
            found = [self.blocks.between(low, high) for low, high in codec.intervals(patterns)]
        self._bring_back(np.unique(np.concatenate([NO_INTS, *found])))

    def after_range(self, side: int, ending: Pending) -> None:
        """Nothing to do: its values are in memory, and kernels have told them."""

    def _matching(self, number: int, patterns: Sequence[Pattern]) -> Ints:
        """The places of a block's values whose keys match."""
        slots = [NO_INTS]
        for stream, tuples in zip(self._stored.setup.spec.streams, self.blocks.rows(number), strict=True):
            if len(tuples):
                slots.append(tuples.owner[match_columns(patterns, [tuples.rows[name] for name in stream.key])])
        places = place_of(number, np.unique(np.concatenate(slots)))
        return places[np.isin(places, self.blocks.all_places(number))]

    # Back to memory

    def _bring_back(self, places: Ints) -> lay.Indices:
        if not places.size:
            return np.empty(0, np.int32)
        taken = self.blocks.take(places)
        portions = [self._in_window(each.portion, each.watched) for each in taken]
        self._settle_rows()
        stored = self._stored
        indices = bring_back(self._state, stored.rows, stored.node_codes, Portion.joined(portions))
        self._remember_homes(taken, portions, self._state.arrays.values["code"][indices])
        stored.collector.rows_moved(self._state)
        return indices

    def _remember_homes(self, taken: Sequence[Taken], portions: Sequence[Portion], codes: Ints) -> None:
        """Of values that are as they were; times of last tuples are not compared, so where they are kept none is."""
        if self._state.sides["tracks_last"].any():
            return
        stops = np.cumsum([portion.addresses.size for portion in portions])
        for each, portion, ours in zip(taken, portions, np.split(codes, stops[:-1]), strict=True):
            if portion is each.portion:
                self._homes.remember(each, ours)
            else:
                self._homes.lose(self._state.n_streams, ours)

    def _in_window(self, portion: Portion, watched: bool) -> Portion:
        """Without tuples that have left their windows unseen."""
        if watched:
            return portion
        limits = last_ends(self._state, self._state.sides["watermark"].tolist())
        stay = [each.ends >= limit for each, limit in zip(portion.tuples, limits, strict=True)]
        if all(each.all() for each in stay):
            return portion
        self._count_gone("invalidated", np.array([np.count_nonzero(~each) for each in stay]))
        both = zip(portion.tuples, stay, strict=True)
        tuples = [each.select(stays, each.owner[stays]) for each, stays in both]
        kept = Portion(portion.addresses, portion.last_ts, portion.last_ends, tuple(tuples))
        return kept.select(np.unique(np.concatenate([each.owner for each in tuples])))

    def _count_gone(self, why: str, n_tuples: Ints) -> None:
        self._state.relocated -= n_tuples
        self._state.common[why] += n_tuples.sum()

    def _settle_rows(self) -> None:
        """From now on nothing but the nodes knows of rows: what is in the buffers goes, and matches are marked."""
        self._stored.collector.drain(self._state)
        self._stored.collector.finish(self._state)

    # To disk

    def _make_room(self, memory: Memory, *, is_last: bool = False) -> None:
        """Put away what is too much, and tidy up what is on disk, unless something may still go back there."""
        state, limit = self._state, self._tuples(memory)
        if state.sides["live"].sum() > limit:
            self._put_away(limit)
        if is_last:
            self._homes.forget()
        if self.blocks and not self._homes:
            ended = last_ends(state, state.sides["watermark"].tolist())
            self._count_gone("invalidated", self.blocks.drop_ended(ended))
            self.blocks.tidy()

    def _put_away(self, limit: int) -> None:
        """Relocate the values that were touched longest ago, until there is some room below the limit."""
        state, stored = self._state, self._stored
        state.sweep()
        self._settle_rows()
        surplus = int(state.sides["live"].sum()) - int(_KEPT * limit)
        if surplus > 0:
            self._write(coldest_values(state, surplus, np.concatenate(self._recent)))
            self._recent = [NO_INTS]
        for side, rows in enumerate(stored.rows):
            rows.gather(state, side)
        self._homes.forget()
        stored.collector.rows_moved(state)

    def _write(self, values: Ints) -> None:
        state, stored = self._state, self._stored
        addresses = stored.codec.addresses(np.ascontiguousarray(state.arrays.values["code"][values]))
        watched = is_watched(state, values)
        order = np.argsort(addresses)
        order = order[np.argsort(watched[order], kind="stable")]
        portion, watched, returning = take_out(
            state, stored.rows, values[order], addresses[order], watched[order], self._homes
        )
        self.blocks.give_back(returning)
        n_silent = int(np.count_nonzero(~watched))
        for start, stop, is_so in ((0, n_silent, False), (n_silent, watched.size, True)):
            if stop > start:
                self.blocks.put(portion.slice(start, stop), watched=is_so)

    # The end of a stream

    def _end_stream(self, ending: _StreamEnd) -> None:
        """Values on disk are told that a stream has ended, portion by portion."""
        state, limit = self._state, self._tuples(self._allowed.working)
        waits = None if isinstance(state, MultiwayState) else 1 - ending.side  # of two, only tuples of the other
        self._homes.forget()  # blocks go
        if waits is not None:
            self._count_gone("purged", self.blocks.drop_all_of(waits))
        for number in self.blocks.numbers(having=waits):
            indices = np.unique(self._bring_back(self.blocks.whole(self.blocks.all_places(number))))
            self._homes.forget()  # in another block it would be told again
            state.make_room()
            end_stream_for_values(state.arrays, ending.side, indices, ending.ts, ending.watermark)
            if state.sides["live"].sum() > limit:
                self._put_away(limit)

    # What outlives a batch

    def save(self) -> Content:
        """What is on disk."""
        return self.blocks.save()

    def load(self, saved: Loaded) -> None:
        """Put it there again."""
        self.blocks.load(saved)
        self._state.relocated[:] = self.blocks.n_tuples


# Which joins can do it


def check_spilling(spec: JoinSpec) -> None:
    """Raise if a join is given `memory=` but cannot work with a part of its tuples on disk."""
    if spec.memory is None:
        return
    if not spec.left.key:
        raise AlgorithmError(
            "memory= is for joins with a key: without one, every tuple is compared with all others; give pt.stream "
            "key=, or use bucket_memory= in place of memory="
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


def looks_through_windows(spec: JoinSpec) -> AlgorithmError:
    """The error for an algorithm that needs whole windows in memory."""
    return AlgorithmError(
        f"algorithm={spec.algorithm.name!r} looks through whole windows for partners, so they must be in memory; use "
        "memory= with 'auto', or leave it out"
    )


def spill_values(stored: Stored, store: TableStore) -> ColdValues:
    """The policy for a join whose tuples are found by their value; the buckets share its memory."""
    memory, place = stored.setup.spec.memory, stored.setup.place
    assert memory is not None
    return ColdValues(stored, memory.allow(place.n, place.at_once), store)
