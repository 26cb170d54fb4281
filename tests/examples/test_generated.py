"""Examples on generated data, and flights with weather: what they find is what pandas finds in the whole tables."""

from itertools import pairwise

import pandas as pd
import pyarrow.compute as pc

import auctions
import flights
import orders
import packets
import punctuated as pt
import trips
import winning_bids
from example_harness import load_or_skip, rows


def test_auctions_count_the_bids_of_ten_minutes() -> None:
    both = auctions.OPENED.to_pandas().merge(auctions.OFFERED.to_pandas(), on="item_id")
    in_time = both[both["bid_at"] - both["opened_at"] <= pd.Timedelta("10 minutes")].groupby("item_id")["bid_price"]
    found = auctions.count(auctions.query(auctions.OPENED, auctions.OFFERED)).to_pandas()
    assert rows(found) == rows(in_time.agg(["count", "max"]).reset_index())


def test_orders_without_a_payment_come_out_at_the_first_proof() -> None:
    shop = orders.generate(n=500, seed=2)
    found = {each.order: each for each in orders.unpaid(shop, orders.query(shop))}
    assert found.keys() == set(shop.orders["order"].to_pylist()) - set(shop.payments["order"].to_pylist())
    given_up = dict(zip(shop.given_up["order"].to_pylist(), shop.given_up["at"].to_pylist(), strict=True))
    end = max(pc.max(column).as_py() for column in (shop.orders["placed_at"], shop.payments["paid_at"]))
    for order, each in found.items():
        assert each.proved == min(given_up.get(order, end), each.placed + orders.TO_PAY, end)


def test_packets_pass_all_routers_in_time() -> None:
    seen = packets.generate(n=2000, seed=6)
    found = pd.DataFrame()
    for name, table in seen.items():
        at = table.to_pandas().rename(columns={"at": f"{name}_at"})
        found = at if found.empty else found.merge(at, on="packet")
    for before, after in pairwise(packets.ROUTERS):
        found = found[(found[f"{after}_at"] - found[f"{before}_at"]).between(0, 50_000)]
    assert 1000 < len(found) < 1950
    for once in (True, False):
        assert rows(packets.query(seen, once).results.to_pandas()) == rows(found)


def test_trips_are_over_by_their_end_and_others_by_their_window() -> None:
    joined = trips.query(*trips.TAXIS)
    reports = trips.TAXIS.reports.to_pandas()
    lengths = trips.lengths(joined).to_pandas().set_index("trip")
    by_trip = reports.groupby("trip")
    assert lengths["reports"].to_dict() == by_trip.size().to_dict()
    assert lengths["km"].round(6).to_dict() == by_trip["km"].sum().round(6).to_dict()
    over = joined.punctuations.to_pandas().set_index("trip")
    ends = reports[reports["end"]].set_index("trip")["at"]
    starts = trips.TAXIS.starts.to_pandas().set_index("trip")["started_at"].drop(ends.index)
    assert over[over["reason"] == "both"]["ts"].to_dict() == ends.to_dict()
    window = pd.Timedelta("3 hours") + pd.Timedelta(1, "us")  # the first moment beyond it
    assert over[over["reason"] == "early"]["ts"].to_dict() == (starts + window).to_dict()


def test_winning_bids_are_the_highest_before_the_expiry() -> None:
    events = pt.streams.nexmark(5000, seed=2)
    both = events.auctions.to_pandas().merge(events.bids.to_pandas(), left_on="id", right_on="auction")
    price = both[both["at"] <= both["expires"]].groupby(["id", "category"])["price"]
    found = winning_bids.winners(winning_bids.query(events)).to_pandas()
    assert rows(found) == rows(price.agg(["max", "count"]).reset_index())


def test_flights_are_counted_with_the_weather_of_their_hour() -> None:
    reports, left = load_or_skip(lambda: (flights.weather(), flights.departures()))
    both = left.to_pandas().merge(reports.to_pandas(), on=flights.KEY).groupby(flights.KEY)
    hours = flights.by_hour(flights.query(reports, left)).set_index(flights.KEY).sort_index()
    assert hours["flights"].equals(both.size().rename("flights"))
    assert hours["cancelled"].equals(both["cancelled"].sum())
    pd.testing.assert_series_equal(hours["late"], both["late"].mean())
