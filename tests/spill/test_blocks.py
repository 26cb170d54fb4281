"""Blocks on disk: written once, marked and merged, read by pieces, and the same after a restore."""

import numpy as np
import pyarrow as pa
import pytest

from punctuated.errors import ScratchError
from punctuated.snapshot.parts import LoadedRowLog
from punctuated.spill.blocks import BlockStore
from punctuated.storage.scratch import Scratch

RECORD = np.dtype([("number", "i8"), ("n", "i8"), ("kind", "i8")])


def store_of(*sizes: int) -> BlockStore:
    """Blocks with the numbers 1, 2, …, whose rows are numbered through."""
    store, first = BlockStore(Scratch(), RECORD, "rows", n_entries="n", first=1), 0
    for size in sizes:
        store.add(pa.table({"row": range(first, first + size)}), n=size, kind=size % 2)
        first += size
    return store


def test_a_block_is_read_as_it_was_written() -> None:
    store = store_of(2, 3)
    assert store.numbers.tolist() == [1, 2] and store.next_number == 3
    assert store.read(2)["row"].to_pylist() == [2, 3, 4]
    assert store.record(2)["kind"] == 1


def test_a_block_that_was_removed_is_gone_and_its_number_is_not_used_again() -> None:
    store = store_of(2, 3, 4)
    assert store.remove(np.array([2]))["n"].tolist() == [3]
    assert store.numbers.tolist() == [1, 3]
    with pytest.raises(ScratchError):
        store.read(2)
    assert store.add(pa.table({"row": [0]}), n=1, kind=0) == 4


def test_entries_are_alive_until_they_are_marked_as_gone() -> None:
    store = store_of(4, 2)
    in_records = store.nbytes
    store.set_alive(1, np.array([0, 2]), alive=False)
    assert store.alive(1).tolist() == [1, 3] and store.alive(2).tolist() == [0, 1]
    assert [(number, entries.tolist()) for number, entries in store.gone()] == [(1, [0, 2])]
    assert store.nbytes == in_records + 4
    store.set_alive(1, np.array([0, 2]), alive=True)
    assert list(store.gone()) == [] and store.nbytes == in_records


@pytest.mark.parametrize("most", [1, 2, 3, 5, 100])
def test_pieces_have_all_rows_and_none_is_too_large(most: int) -> None:
    store = store_of(1, 2, 7, 1, 4)
    pieces = list(store.pieces(store.numbers.tolist(), most))
    assert sorted(row for piece in pieces for row in piece["row"].to_pylist()) == [*range(15)]
    assert max(map(len, pieces)) <= most


def test_small_blocks_are_merged_if_there_are_enough_of_them() -> None:
    store = store_of(1, 9, 1, 9, 1)
    is_small = store.records["n"] < 5
    assert store.mergeable(is_small, 3).tolist() == [1, 3, 5]
    assert store.mergeable(is_small, 4).size == 0


def test_a_restored_store_has_the_same_blocks() -> None:
    old = store_of(2, 3, 4)
    old.remove(np.array([2]))
    log = old.save_tables("tables", old.read, old.read(1).slice(0, 0))["tables"]
    new = BlockStore(Scratch(), RECORD, "rows", n_entries="n")
    new.load(old.records, old.save_next())
    saved = LoadedRowLog(log.ids, log.next_id, log.at(np.arange(log.ids.size)), log.marked)
    for number, start in zip(saved.ids.tolist(), [0, 2], strict=True):
        new.restore(number, saved.rows.slice(start, int(new.record(number)["n"])))
    assert [new.read(number) for number in (1, 3)] == [old.read(number) for number in (1, 3)]
    assert new.next_number == old.next_number


def test_a_durable_store_keeps_its_tables_itself() -> None:
    store = store_of(1)
    store.tables.is_durable = True
    assert store.save_tables("tables", store.read, store.read(1)) == {}
