"""NEXMark on tables equals DuckDB, in whatever order and batches the rows come.

By hand with more events: NEXMARK_EVENTS=200000 pytest tests/test_nexmark.py
"""

import os

import pytest

import nexmark_queries as queries
import punctuated as pt

EVENTS = pt.streams.nexmark(int(os.environ.get("NEXMARK_EVENTS", "5000")), seed=3)
ANSWERS = queries.answers(EVENTS)
LATE = "1000 seconds"  # than the events take altogether: any order is in order


@pytest.mark.parametrize("n_batches", [1, 7, 37, 400])
def test_in_any_order_and_cut(n_batches: int) -> None:
    persons, auctions, bids = (queries.shuffled(table, n_batches, seed=n_batches) for table in EVENTS)
    joined = queries.joined_bids(auctions, bids, LATE)

    assert queries.rows(queries.q9(joined), ["id", "final", "n"]) == ANSWERS["q9"]
    assert queries.rows(queries.q4(joined, queries.categories()), ["category", "n", "average"]) == ANSWERS["q4"]
    assert queries.rows(queries.q8(persons, auctions, LATE), ["id", "name", "n"]) == ANSWERS["q8"]
    assert joined.rejected.num_rows == 0


@pytest.mark.parametrize("n_batches", [1, 50])
def test_in_order_the_state_is_that_of_open_auctions(n_batches: int) -> None:
    size = -(-len(EVENTS.bids) // n_batches)
    bids = [EVENTS.bids.slice(start, size) for start in range(0, len(EVENTS.bids), size)]
    joined = queries.joined_bids([EVENTS.auctions], bids)

    assert queries.rows(queries.q9(joined), ["id", "final", "n"]) == ANSWERS["q9"]
    assert set(joined.metrics["state_right"].to_pylist()) == {0}


def test_bids_that_all_come_before_the_auctions() -> None:
    nothing = EVENTS.auctions.slice(0, 0)
    joined = queries.joined_bids([nothing, EVENTS.auctions], [EVENTS.bids, EVENTS.bids.slice(0, 0)], LATE)

    assert queries.rows(queries.q9(joined), ["id", "final", "n"]) == ANSWERS["q9"]
