"""The stores: what the W-join report tells of its data holds for them."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from punctuated.errors import StreamError
from punctuated.streams import stores
from punctuated.streams.stores import CLOSES_H, OPENS_H, RATE

PER_DAY = round(RATE * (CLOSES_H - OPENS_H))
HOUR_US = 3_600_000_000


def hours(table: pa.Table) -> NDArray[np.float64]:
    """Since the first day's midnight."""
    return np.asarray(table["sold_at"].cast(pa.int64()).to_numpy() / HOUR_US)


def test_schemas_and_sizes() -> None:
    tables = stores(3000, 3, seed=2)
    assert len(tables) == 3
    assert tables[0].schema == pa.schema(
        {
            "item": pa.int64(),
            "quantity": pa.int64(),
            "unit_price": pa.float64(),
            "sold_at": pa.timestamp("us", tz="UTC"),
        }.items()
    )
    assert sum(map(len, tables)) == 3000
    assert min(map(len, tables)) > 900, "all of a size"
    assert stores(3000, 3, seed=2)[1].equals(tables[1])
    assert not stores(3000, 3, seed=3)[1].equals(tables[1])


def test_stores_sell_while_they_are_open_and_most_at_noon() -> None:
    (sold,) = stores(3 * PER_DAY, 1)
    at = hours(sold)
    assert np.all(np.diff(at) >= 0)
    assert set((at // 24).tolist()) == {0.0, 1.0, 2.0}
    of_day = at % 24
    assert of_day.min() >= OPENS_H and of_day.max() <= CLOSES_H
    per_hour = np.histogram(of_day, bins=np.arange(8, 20))[0] / 3
    assert per_hour.argmax() in (4, 5, 6)
    assert per_hour.max() > 2 * per_hour[[0, -1]].max()


def test_a_short_run_ends_within_a_day() -> None:
    assert hours(stores(PER_DAY // 2, 1)[0]).max() == pytest.approx((OPENS_H + CLOSES_H) / 2, abs=0.2)
    assert hours(stores(PER_DAY + 1, 1)[0]).max() > 24


def test_items_are_the_same_everywhere_and_some_are_popular() -> None:
    one, other = (np.bincount(table["item"].to_numpy(), minlength=1000) for table in stores(100_000, 2, items=1000))
    assert len(one) == len(other) == 1000
    assert np.corrcoef(one, other)[0, 1] > 0.9
    assert one.max() > 5 * np.median(one)
    assert one.argmax() == other.argmax()


def test_a_price_is_that_of_its_item() -> None:
    table = pa.concat_tables(stores(5000, 2, items=50))
    pairs = set(zip(table["item"].to_pylist(), table["unit_price"].to_pylist(), strict=True))
    assert len(pairs) == 50
    assert min(table["unit_price"].to_pylist()) > 0 and min(table["quantity"].to_pylist()) == 1


def test_nothing_is_sold_in_empty_stores() -> None:
    assert [len(table) for table in stores(0, 2)] == [0, 0]


@pytest.mark.parametrize(
    "given", [{"n": -1}, {"n": 1.5}, {"n": 1, "n_stores": 0}, {"n": 1, "seed": -1}, {"n": 1, "items": 0}]
)
def test_what_makes_no_sense_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(StreamError):
        stores(**given)
