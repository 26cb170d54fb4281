"""Rows by the values of their partition columns."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Partition = tuple[tuple[str, str | None], ...]  # column and value as text, in the order of the columns


def by_partition(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Partition, pa.Table]]:
    """The rows of each combination of values, in their order, without these columns.

    >>> rows = pa.table({"day": ["a", "b", "a"], "n": [1, 2, 3]})
    >>> [(partition, part["n"].to_pylist()) for partition, part in by_partition(rows, ["day"])]
    [((('day', 'a'),), [1, 3]), ((('day', 'b'),), [2])]
    """
    if not columns:
        yield (), table
        return
    codes, values = zip(*(_encoded(table[name]) for name in columns), strict=True)
    numbers = np.zeros(len(table), np.int64)
    for code, known in zip(codes, values, strict=True):
        numbers = np.unique(numbers * len(known) + code, return_inverse=True)[1]  # dense, so that none overflows
    order = np.argsort(numbers, kind="stable")
    rest = table.drop_columns(list(columns)).take(pa.array(order))
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(table)], strict=True):
        at = order[start]
        chosen = [known[code[at]] for code, known in zip(codes, values, strict=True)]
        yield tuple(zip(columns, chosen, strict=True)), rest.slice(start, stop - start)


def _encoded(column: pa.ChunkedArray) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", list[str | None]]:
    """A number for each row, and what the numbers stand for; an empty text is null, as in names of folders."""
    texts = column.cast(pa.string()).combine_chunks()
    encoded = pc.if_else(pc.equal(texts, ""), None, texts).dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()
