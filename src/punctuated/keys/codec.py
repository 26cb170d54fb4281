"""Keys as 64-bit codes: the kernels compare codes, so a code must stand for exactly one key.

The value of a single integer, float, date, time or boolean column *is* its code, in the same order, so that ranges
become intervals of codes. Any other key, such as one of several columns, is numbered by its bytes. Colliding hashes
cost time, never exactness.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.kernels.key_bytes import hash_numbered, number_keys
from punctuated.keys.encoding import encode_rows
from punctuated.keys.pattern_match import match_columns, typed_scalar
from punctuated.model.pattern import Constant, OneOf, Pattern, Range, Wildcard
from punctuated.snapshot.parts import Content, Loaded, RowLog

Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_SIGN = np.int64(-(2**63))
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_NUMBER_BITS = 40  # of a saved key's number; the bits above count how often all keys were renumbered


Decoded = Callable[[], list[pa.Array]]  # makes the key columns when they are needed


class KeyCodec(Protocol):
    """Turns key columns into codes and back."""

    types: tuple[pa.DataType, ...]
    merges: bool  # whether neighbouring codes are neighbouring values

    def encode(self, columns: Sequence[pa.ChunkedArray]) -> tuple[Codes, Mask]:
        """The code of each row, and which rows have a key without nulls."""

    def decode(self, codes: Codes) -> list[pa.Array]:
        """The key columns of these codes."""

    def decode_later(self, codes: Codes) -> Decoded:
        """The key columns of these codes, made when they are asked for, whatever happens to the codes meanwhile."""

    def intervals(self, patterns: Sequence[Pattern]) -> list[tuple[int, int]]:
        """The known codes whose keys match the patterns, as closed intervals."""

    def addresses(self, codes: Codes) -> Codes:
        """Numbers by which keys are found on disk: equal keys have equal numbers, now and later."""

    def nbytes(self) -> int: ...


def key_codec(types: Sequence[pa.DataType], hash_bits: int = 64) -> KeyCodec:
    """The codec for key columns of these types."""
    if not types:
        return NoKey()
    if len(types) == 1 and OrderedKeys.fits(types[0]):
        return OrderedKeys(types[0])
    return NumberedKeys(types, hash_bits)


class NoKey:
    """The codec of a join without a key: there is nothing to encode."""

    types: tuple[pa.DataType, ...] = ()
    merges = False

    def encode(self, columns: Sequence[pa.ChunkedArray]) -> tuple[Codes, Mask]:
        return np.empty(0, np.int64), np.empty(0, np.bool_)

    def decode(self, codes: Codes) -> list[pa.Array]:
        return []

    def decode_later(self, codes: Codes) -> Decoded:
        return list

    def intervals(self, patterns: Sequence[Pattern]) -> list[tuple[int, int]]:
        return []

    def addresses(self, codes: Codes) -> Codes:
        return codes

    def nbytes(self) -> int:
        return 0


class OrderedKeys:
    """One column whose values are 64-bit codes by themselves."""

    def __init__(self, dtype: pa.DataType) -> None:
        self.types = (dtype,)
        self.merges = bool(pa.types.is_integer(dtype))
        self._is_code = self.merges and dtype != pa.uint64()  # the number itself

    @staticmethod
    def fits(dtype: pa.DataType) -> bool:
        """Whether values of this type are codes by themselves."""
        kind = pa.types
        return bool(
            kind.is_integer(dtype)
            or kind.is_floating(dtype)
            or kind.is_boolean(dtype)
            or kind.is_date(dtype)
            or kind.is_time(dtype)
            or kind.is_timestamp(dtype)
            or kind.is_duration(dtype)
        )

    def encode(self, columns: Sequence[pa.ChunkedArray]) -> tuple[Codes, Mask]:
        column = columns[0]
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if not column.null_count:
            return self._codes(column), np.ones(len(column), np.bool_)
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        zero = pa.scalar(0, pa.int64() if not pa.types.is_floating(column.type) else pa.float64())
        return self._codes(pc.fill_null(self._numeric(column), zero)), valid

    def _numeric(self, column: pa.Array) -> pa.Array:
        """The column as 64-bit numbers, in the order of its values but for unsigned ones."""
        dtype = column.type
        if dtype == pa.int64():
            return column  # by far the most frequent case, and a cast costs as much as a hundred punctuations
        if pa.types.is_floating(dtype):
            return column.cast(pa.float64())
        if dtype == pa.uint64():
            return pa.Array.from_buffers(pa.int64(), len(column), column.buffers(), offset=column.offset)
        if pa.types.is_date32(dtype) or pa.types.is_time32(dtype):
            return column.cast(pa.int32()).cast(pa.int64())
        return column.cast(pa.int64())

    def _codes(self, column: pa.Array) -> Codes:
        numbers = self._numeric(column).to_numpy(zero_copy_only=False)
        if self._is_code:
            return np.asarray(numbers)
        dtype = self.types[0]
        if pa.types.is_floating(dtype):
            return _float_codes(numbers)
        return np.asarray(numbers ^ _SIGN if dtype == pa.uint64() else numbers)

    def decode(self, codes: Codes) -> list[pa.Array]:
        dtype = self.types[0]
        if pa.types.is_floating(dtype):
            return [pa.array(_float_values(codes)).cast(dtype)]
        if dtype == pa.uint64():
            return [pa.array((codes ^ _SIGN).view(np.uint64))]
        narrow = pa.types.is_date32(dtype) or pa.types.is_time32(dtype)
        integers = pa.array(codes, pa.int64())
        return [integers.cast(pa.int32()).cast(dtype) if narrow else integers.cast(dtype)]

    def decode_later(self, codes: Codes) -> Decoded:
        return partial(self.decode, codes)

    def _code(self, value: Any) -> int:
        return int(self.encode([pa.array([typed_scalar(value, self.types[0])])])[0][0])

    def intervals(self, patterns: Sequence[Pattern]) -> list[tuple[int, int]]:
        (pattern,) = patterns
        if isinstance(pattern, Wildcard):
            return [(_LOWEST, _HIGHEST)]
        if isinstance(pattern, Constant | OneOf):
            values = [pattern.value] if isinstance(pattern, Constant) else list(pattern.values)
            return sorted((code, code) for code in map(self._code, values))
        if not isinstance(pattern, Range):
            return []
        low = _LOWEST if pattern.low is None else self._code(pattern.low) + (not pattern.low_closed)
        high = _HIGHEST if pattern.high is None else self._code(pattern.high) - (not pattern.high_closed)
        return [(low, high)] if low <= high else []

    def addresses(self, codes: Codes) -> Codes:
        return codes

    def nbytes(self) -> int:
        return 0


def _float_codes(values: npt.NDArray[np.float64]) -> Codes:
    """Bits in the order of the numbers; one code for both zeros, and one for all NaNs, above infinity."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)
    bits = plain.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(_HIGHEST))


def _float_values(codes: Codes) -> npt.NDArray[np.float64]:
    return (codes ^ ((codes >> 63) & np.int64(_HIGHEST))).view(np.float64)


class NumberedKeys:
    """Keys of any type, numbered in the order of their first occurrence; the keys themselves are kept."""

    def __init__(self, types: Sequence[pa.DataType], hash_bits: int = 64) -> None:
        self.types = tuple(types)
        self.merges = False
        self._hash_mask = np.uint64((1 << hash_bits) - 1)
        self.numbering = 0  # how often all keys were renumbered
        self._reset()

    def _reset(self) -> None:
        self._known = 0
        self._slots = np.full(64, -1, np.int32)
        self._starts = np.zeros(1, np.int64)
        self._arena = np.empty(0, np.uint8)
        self._keys: list[pa.Table] = []

    @property
    def _schema(self) -> pa.Schema:
        return pa.schema([(str(i), dtype) for i, dtype in enumerate(self.types)])

    def encode(self, columns: Sequence[pa.ChunkedArray]) -> tuple[Codes, Mask]:
        table = pa.table(list(columns), schema=self._schema)
        offsets, data, valid = encode_rows(table)
        self._make_room(len(table), data.size)
        before = self._known
        numbers, self._known = number_keys(
            offsets, data, valid.view(np.uint8), self._hash_mask, self._slots, self._starts, self._arena, before
        )
        if self._known > before:
            fresh = np.unique(numbers, return_index=True)
            first = fresh[1][np.searchsorted(fresh[0], before) :]
            self._keys.append(table.take(pa.array(first)))
        return numbers, valid

    def _make_room(self, rows: int, size: int) -> None:
        used = int(self._starts[self._known])
        if self._arena.size < used + size:
            self._arena = np.concatenate([self._arena[:used], np.empty(used // 2 + size, np.uint8)])
        if self._starts.size <= self._known + rows:
            starts = np.zeros(int(1.5 * self._known) + rows + 1, np.int64)
            starts[: self._known + 1] = self._starts[: self._known + 1]
            self._starts = starts
        if self._slots.size < 2 * (self._known + rows):
            self._slots = np.full(1 << (2 * (self._known + rows)).bit_length(), -1, np.int32)
            offsets, data = self._starts[: self._known + 1].copy(), self._arena[:used].copy()
            ones = np.ones(self._known, np.uint8)
            number_keys(offsets, data, ones, self._hash_mask, self._slots, self._starts, self._arena, 0)

    def __len__(self) -> int:
        return self._known

    def known_keys(self) -> pa.Table:
        """All keys, in the order of their numbers."""
        return self._table()

    def keys_from(self, number: int) -> pa.Table:
        """The keys from this number on. The newest ones cost little, however many keys there are."""
        tables: list[pa.Table] = []
        missing = self._known - number
        for table in reversed(self._keys):
            if missing <= 0:
                break
            tables.append(table.slice(max(0, len(table) - missing)))
            missing -= len(tables[-1])
        return pa.concat_tables([self._schema.empty_table(), *reversed(tables)])

    def _table(self) -> pa.Table:
        if len(self._keys) != 1:
            self._keys = [pa.concat_tables([self._schema.empty_table(), *self._keys]).combine_chunks()]
        return self._keys[0]

    def decode(self, codes: Codes) -> list[pa.Array]:
        return [column.combine_chunks() for column in self._table().take(pa.array(codes)).columns]

    def decode_later(self, codes: Codes) -> Decoded:
        """The key columns, looked up now: later the numbers may belong to other keys."""
        keys = self.decode(codes)
        return lambda: keys

    def intervals(self, patterns: Sequence[Pattern]) -> list[tuple[int, int]]:
        matching = np.flatnonzero(match_columns(patterns, self._table().columns))
        return [(code, code) for code in matching.tolist()]

    def addresses(self, codes: Codes) -> Codes:
        """Hashes of the keys, since their numbers may change. Different keys may share one."""
        return hash_numbered(codes, self._starts, self._arena, self._hash_mask)

    def may_shrink(self, n: int) -> bool:
        """Whether forgetting all keys but `n` saves enough memory to be worth the work."""
        return self._known > max(1024, 2 * n)

    def keep_only(self, codes: Codes) -> Codes | None:
        """Forget all keys but these if that is worth the work; returns the new code of each old one, or None."""
        if not self.may_shrink(codes.size):
            return None
        moved = np.full(self._known, -1, np.int64)
        survivors = self._table().take(pa.array(codes))
        self._reset()
        self.numbering += 1
        moved[codes], _ = self.encode(survivors.columns)
        return moved

    def save(self) -> Content:
        """The keys as a log by their numbers; numbers from before a renumbering are no longer known."""
        first = self.numbering << _NUMBER_BITS
        ids = first + np.arange(self._known)
        log = RowLog(ids, first + self._known, lambda indices: self._table().take(pa.array(indices)))
        return Content(logs={"numbered": log})

    def load(self, saved: Loaded) -> None:
        """Number the saved keys anew, in the order in which they were saved."""
        log = saved.logs["numbered"]
        self.encode(log.rows.columns)
        self.numbering = log.next_id >> _NUMBER_BITS

    def nbytes(self) -> int:
        arrays = (self._slots, self._starts, self._arena)
        return sum(array.nbytes for array in arrays) + sum(int(table.nbytes) for table in self._keys)
