"""Columns that are whole numbers in memory, whatever their type means: as NumPy arrays for kernels, and back."""

from collections.abc import Sequence
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels.exchange import BLOCK, measure_blocks, narrow_blocks, widen_blocks

Ints = npt.NDArray[np.int64]
_STORED = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}  # by width; to gain from less than that is not worth it
Piece: TypeAlias = pa.ChunkedArray | pa.Buffer  # what a parcel brings of a column: as it was, or narrow
_FEWEST = 1 << 10  # rows: with fewer the bytes do not matter
_WORD = 8  # bytes


def are_whole(column: pa.ChunkedArray) -> bool:
    """Whether a column is one of whole numbers without nulls."""
    return _stored(column.type) is not None and not column.null_count


def read_whole(array: pa.Array) -> Ints:
    """The numbers of a chunk of such a column; read-only, so that kernels are compiled once."""
    numbers: Ints = array.view(_stored(array.type)).to_numpy().astype(np.int64, copy=False).view()
    numbers.flags.writeable = False
    return numbers


def write_whole(numbers: Ints, dtype: pa.DataType) -> pa.Array:
    """An array of a type from its numbers in memory; of 64-bit types without a copy."""
    stored = numbers.astype(f"int{dtype.bit_width}", copy=False)
    return pa.Array.from_buffers(dtype, stored.size, [None, pa.py_buffer(stored)])


def _stored(dtype: pa.DataType) -> pa.DataType | None:
    """The integer type that a type has in memory; None if its values are no whole numbers."""
    kind = pa.types
    is_moment = kind.is_temporal(dtype) and not kind.is_interval(dtype)
    return _STORED.get(dtype.bit_width) if kind.is_integer(dtype) or is_moment else None


# In few bits, since an exchange copies every byte a dozen times and more
#
# Event times, keys and amounts in cents span far less than the 64 bits of their type, within a few rows least of all.
# A column with nulls, and columns of other types, stay as they are.


def narrowed(column: pa.ChunkedArray) -> pa.Buffer | None:
    """The numbers of a column in few bits; None if it is short, or not one of whole numbers."""
    if len(column) < _FEWEST or not are_whole(column):
        return None
    return pa.py_buffer(_narrowed(read_whole(column.combine_chunks())))


def widened(pieces: Sequence[tuple[int, Piece]], dtype: pa.DataType) -> pa.ChunkedArray:
    """A column of all pieces, each with its number of rows; narrow neighbours become one array."""
    chunks: list[pa.Array] = []
    for is_narrow, ours in groupby(pieces, key=lambda piece: isinstance(piece[1], pa.Buffer)):
        if is_narrow:
            chunks.append(write_whole(_widened(list(ours)), dtype))
        else:
            chunks += [chunk for _, column in ours for chunk in column.chunks]
    return pa.chunked_array(chunks, dtype)


def _narrowed(numbers: Ints) -> Ints:
    """Numbers as the bases, widths and words of their blocks, each of these from a whole word on."""
    n_blocks = _blocks(numbers.size)
    bases, widths = np.empty(n_blocks, np.int64), np.zeros(_words(n_blocks) * _WORD, np.uint8)
    n_words = measure_blocks(numbers, bases, widths[:n_blocks])
    head = np.concatenate([bases, widths.view(np.int64)])
    whole = np.empty(head.size + n_words, np.int64)
    whole[: head.size] = head
    narrow_blocks(numbers, bases, widths[:n_blocks], whole[head.size :])
    return whole


def _widened(pieces: Sequence[tuple[int, pa.Buffer]]) -> Ints:
    """The numbers of narrow pieces, one piece after the other."""
    numbers, start = np.empty(sum(n_rows for n_rows, _ in pieces), np.int64), 0
    for n_rows, data in pieces:
        n_blocks = _blocks(n_rows)
        n_head = n_blocks + _words(n_blocks)
        whole = np.require(np.frombuffer(data, np.int64), requirements="A").view()
        whole.flags.writeable = False  # as it is if it needs no copy
        widths = whole[n_blocks:n_head].view(np.uint8)[:n_blocks]
        widen_blocks(whole[n_head:], whole[:n_blocks], widths, numbers[start : start + n_rows])
        start += n_rows
    return numbers


def _blocks(n_rows: int) -> int:
    return -(-n_rows // BLOCK)


def _words(n_blocks: int) -> int:
    """How many words hold a byte for each block."""
    return -(-n_blocks // _WORD)
