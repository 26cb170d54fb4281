"""`stream.with_`: the same stream, declared anew in some respects."""

from datetime import timedelta

import pyarrow as pa
import pytest

import punctuated as pt

BIDS = pa.table({"item": [7, 7, 8], "price": [1, 2, 3], "at": [1, 2, 3], "closed": [False, True, False]})


def bids() -> pt.TableStream:
    found: pt.TableStream = pt.stream(BIDS, name="B", key="item", time="at", punctuations=pt.when("closed"), lateness=5)
    return found


def test_what_is_not_changed_stays() -> None:
    changed = bids().with_(name="C", window="5 minutes")
    assert changed.spec.window == pt.between(0, timedelta(minutes=5))
    assert (changed.spec.name, changed.spec.flag, changed.spec.lateness_us) == ("C", "closed", 5)
    assert bids().spec.name == "B"


def test_of_rows_that_are_left_some_are_taken() -> None:
    some = bids().with_(where=pt.column("price") > 1).with_(where=pt.column("item") < 8)
    assert pt.only(some).results["price"].to_pylist() == [2]


def test_columns_are_made_of_those_that_were_made() -> None:
    cents = bids().with_(select={"item": "item", "at": "at", "closed": "closed", "cents": pt.column("price") * 100})
    again = cents.with_(
        select={"item": "item", "at": "at", "closed": "closed", "more": pt.column("cents") + 1},
        where=pt.column("cents") > 100,
    )
    assert pt.only(again).results["more"].to_pylist() == [201, 301]


def test_batches_that_can_be_read_once_are_read_once() -> None:
    stream = pt.stream(iter([BIDS, BIDS.slice(0, 0)]), key="item", time="at")
    assert pt.only(stream.with_(name="again")).results.num_rows == 3


def test_a_join_as_a_stream_is_declared_anew() -> None:
    joined = pt.join(bids().with_(window=10), bids().with_(name="C", window=10))
    chained = pt.stream(joined).with_(key="price_left", name="J")
    assert chained.spec.key == ("price_left",) and not chained.spec.punctuated
    assert pt.stream(joined).with_(name="J").spec.punctuated


def test_what_cannot_be_is_an_error() -> None:
    with pytest.raises(pt.ColumnError, match="no column 'itm'"):
        bids().with_(key="itm")
