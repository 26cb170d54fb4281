"""Which tuples of a join that sheds may probe and which are stored: each tuple has two biased coins (KN-33).

Invariant: a coin is a hash of the tuple, so nothing is random at run time. A batch that is repeated sheds the same
tuples, in whatever order and in however many buckets it comes. Another purpose, side or seed gives independent coins.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import ShedError
from punctuated.intake.prepare import window_ends
from punctuated.kernels.key_bytes import HASH_VERSION, hash_keys
from punctuated.kernels.layout import Indices
from punctuated.kernels.order import unpack_object
from punctuated.keys.codec import OrderedKeys
from punctuated.keys.encoding import encode_rows
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, Side
from punctuated.model.times import to_microseconds
from punctuated.model.window import UntilWindow
from punctuated.shedding.estimates import PAIR_SCHEMA, pair_columns
from punctuated.state.rows import RowStore

ID, SHARE = "\0id", "\0share"  # kept beside each stored row: which tuple it is, and the share with which it was stored
HIDDEN = pa.schema([(ID, pa.int64()), (SHARE, pa.float64())])
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Sides = tuple[float, float]
_PROBE, _STORE = 1, 2  # purposes of a coin
_SPAN = 2**64
_LARGEST = 2**63 - 1
_GAMMA, _FIRST, _SECOND, _NULL = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)
)


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of each stream's tuples that probes, and the share that is stored.

    They hold for a batch, and are part of the state, since a repeated batch must shed the same. Pairs of later batches
    still depend on the share with which their stored tuple was stored, so that is kept beside each stored row.
    """

    probe: Sides = (1.0, 1.0)
    store: Sides = (1.0, 1.0)

    @staticmethod
    def of(rates: Sides, windows: Sides, granted_rates: Sides, granted_windows: Sides) -> "Shares":
        """The shares that remain of tuples per second and of tuples in windows, when so many of them are granted.

        >>> Shares.of(rates=(800, 200), windows=(100, 0), granted_rates=(100, 0), granted_windows=(100, 200))
        Shares(probe=(0.125, 0.0), store=(1.0, 1.0))
        """
        return Shares(_shares(granted_rates, rates), _shares(granted_windows, windows))

    def check_chances(self, names: tuple[str, str]) -> None:
        """Raise if some pairs have no chance to come out: what is never seen cannot be estimated."""
        for side in Side:
            for share, what in ((self.probe[side], "probes"), (self.store[side], "is stored")):
                if share <= 0:
                    raise ShedError(
                        f"no tuple of {names[side]!r} {what}, so groups cannot be estimated: "
                        "give shed(floor=…) more than 0, or another strategy"
                    )

    def to_text(self) -> str:
        """The shares as saved states have them."""
        return json.dumps([self.probe, self.store])

    @staticmethod
    def from_text(text: str) -> "Shares":
        """Exactly the shares that `to_text` was called on."""
        (a, b), (c, d) = json.loads(text)
        return Shares((a, b), (c, d))


def _shares(granted: Sides, actual: Sides) -> Sides:
    left, right = (min(1.0, some / whole) if whole > 0 else 1.0 for some, whole in zip(granted, actual, strict=True))
    return left, right


class Coins(NamedTuple):
    """What the coins decide for the tuples of one side of a batch."""

    ids: Ints  # which tuple it is, for estimates; tuples with one id have the same coins
    probes: Mask
    stores: Mask


def flip_coins(rows: pa.Table, side: Side, seed: int, shares: Shares) -> Coins:
    """The coins of these tuples.

    A larger share keeps all that a smaller one keeps, and more. Rows that are equal to the last bit get coins of their
    own within a batch; in different batches they share coins and id, which keeps the estimates right.
    """
    n, probe, store = len(rows), shares.probe[side], shares.store[side]
    if min(probe, store) >= 1:  # the estimates ask only which tuples might have been shed
        return Coins(np.zeros(n, np.int64), np.ones(n, np.bool_), np.ones(n, np.bool_))
    ids = row_ids(rows, side)
    return Coins(ids.view(np.int64), _keeps(ids, seed, _PROBE, probe), _keeps(ids, seed, _STORE, store))


def _keeps(ids: Words, seed: int, purpose: int, share: float) -> Mask:
    if share >= 1:
        return np.ones(ids.size, np.bool_)
    bound = np.uint64(max(0, int(share * _SPAN)))
    return _mix(ids ^ _salt(seed, purpose)) < bound


# Tuples as numbers


def row_ids(rows: pa.Table, side: Side) -> Words:
    """A hash of each tuple: of its side, of its row, and of how many equal rows come before it in the batch."""
    hashes = np.repeat(_salt(HASH_VERSION, side), len(rows))
    for column in rows.columns:
        for leaf in _leaves(column):
            hashes = _mix(hashes ^ _hash_leaf(leaf))
    return _mix(hashes ^ _mix(_occurrences(hashes)))


def _leaves(column: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    """The columns that a column consists of: without structs, and of types that can be encoded."""
    dtype, kind = column.type, pa.types
    if isinstance(dtype, pa.BaseExtensionType):
        yield from _leaves(column.cast(dtype.storage_type))
    elif kind.is_dictionary(dtype):
        yield from _leaves(column.cast(dtype.value_type))
    elif kind.is_run_end_encoded(dtype):
        yield from _leaves(pc.run_end_decode(column))
    elif kind.is_struct(dtype):
        yield column.is_valid()
        for field in column.flatten():
            yield from _leaves(field)
    elif kind.is_large_binary(dtype) or kind.is_binary_view(dtype) or kind.is_string_view(dtype):
        yield column.cast(pa.binary())
    else:
        yield column


def _hash_leaf(leaf: pa.ChunkedArray) -> Words:
    if OrderedKeys.fits(leaf.type):
        codes, valid = OrderedKeys(leaf.type).encode([leaf])
    else:
        offsets, data, valid = encode_rows(pa.table([leaf], names=["leaf"]))
        codes = hash_keys(offsets, data, _LARGEST)
    return np.where(valid, _mix(codes.view(np.uint64)), _NULL)


def _occurrences(hashes: Words) -> Words:
    """How many equal hashes come before each one."""
    numbers = np.zeros(hashes.size, np.uint64)
    ordered = np.sort(hashes)
    if not (ordered[1:] == ordered[:-1]).any():
        return numbers
    order = np.argsort(hashes, kind="stable")
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    lengths = np.diff(np.append(starts, hashes.size))
    numbers[order] = np.arange(hashes.size) - np.repeat(starts, lengths)
    return numbers


def _mix(words: Words) -> Words:
    """The finalizer of splitmix64: every bit depends on all bits."""
    mixed = words + _GAMMA
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _salt(*numbers: int) -> Words:
    """One word that depends on all these numbers."""
    salt = np.zeros(1, np.uint64)
    for number in numbers:
        salt = _mix(salt ^ np.uint64(int(number) % _SPAN))
    return salt


# Pairs: which tuple probed, and with which chance the pair came out


def turns(order: Ints, side: Side, n: int) -> Ints:
    """When each of the `n` tuples that a batch has of this side is processed; `order` is that of `merge_order`."""
    tuples, is_punctuation, of = unpack_object(order)
    indices = np.flatnonzero((of == side) & (is_punctuation == 0))
    when = np.empty(n, np.int64)
    when[tuples[indices]] = indices
    return when


def right_probes(pairs: Indices, base_rows: tuple[int, int], when: Sequence[Ints]) -> Mask:
    """Which pairs the right tuple has found, because it was processed later.

    Rows before `base_rows` are of earlier batches.
    """
    left, right = (_turn(pairs[side], base_rows[side], when[side]) for side in (LEFT, RIGHT))
    return np.asarray(right > left)


def _turn(rows: Indices, base_row: int, when: Ints) -> Ints:
    turn = np.full(rows.size, -1, np.int64)
    fresh = rows >= base_row
    turn[fresh] = when[rows[fresh] - base_row]
    return turn


@dataclass(frozen=True)
class PairChances:
    """What estimates must know of each pair of a batch: its two tuples, and with which chances they met."""

    spec: JoinSpec
    rows: Sequence[RowStore]
    turns: tuple[Ints, ...]
    shares: Shares

    def add_to(self, table: pa.Table, left: Indices, right: Indices) -> pa.Table:
        """Results with the columns of `PAIR_SCHEMA` behind their own."""
        known = [self._known(side, rows) for side, rows in ((LEFT, left), (RIGHT, right))]
        ids, store, until = zip(*known, strict=True)
        base_rows = self.rows[LEFT].n_stored, self.rows[RIGHT].n_stored
        found_by_right = right_probes(np.stack([left, right]), base_rows, self.turns)
        columns = pair_columns(found_by_right, ids, self.shares.probe, store, until)
        for field, column in zip(PAIR_SCHEMA, columns, strict=True):
            table = table.append_column(field, column)
        return table

    def _known(self, side: Side, rows: Indices) -> tuple[Ints, Floats, Ints]:
        """For each row its tuple, the share with which it was stored, and until when it can be met."""
        stream = self.spec.streams[side]
        own = [stream.window.column] if isinstance(stream.window, UntilWindow) else []
        taken = self.rows[side].take(rows, list(dict.fromkeys([ID, SHARE, stream.time, *own])))
        until = window_ends(stream, taken, to_microseconds(taken.column(2), stream.time))
        return np.asarray(taken.column(0)), np.asarray(taken.column(1)), until
