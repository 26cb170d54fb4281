"""The way of a tuple, as `docs/how_it_works.md` tells it: its stations are files, at most 20, and in this order."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

import punctuated as pt

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "punctuated"
PAGE = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8")
STATIONS = re.findall(r"^\| (\d+) \| `([\w/]+\.py)` \|", PAGE, re.MULTILINE)
DECLARED = ("api/", "bind/")  # the stations of a query that is made
RUN = ("operator/driver.py", "intake/prepare.py", "operator/pwjoin/", "kernels/")  # of a batch


def test_there_are_at_most_twenty_stations_and_each_is_a_file() -> None:
    assert [int(number) for number, _ in STATIONS] == list(range(1, len(STATIONS) + 1))
    assert 15 <= len(STATIONS) <= 20
    assert [path for _, path in STATIONS if not (PACKAGE / path).is_file()] == []


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE)
    assert [path for path in named if not (PACKAGE / path).is_file()] == []


def test_a_join_of_tables_meets_its_stations_in_this_order() -> None:
    joined = declared_join()
    _ = joined.results  # compiles what is not compiled yet
    driver = joined.bound.driver()
    for entered, stations in (
        (files_entered(declared_join), DECLARED),
        (files_entered(lambda: driver.process(*joined.batches[0])), RUN),
    ):
        expected = [path for _, path in STATIONS if path.startswith(stations)]
        assert [path for path in expected if path not in entered] == []
        assert sorted(expected, key=entered.index) == expected


def declared_join() -> pt.Join:
    a = pa.table({"item": [1, 2], "opened": [0, 1]})
    b = pa.table({"item": [1, 1], "at": [2, 3], "closed": [False, True]})
    auctions = pt.stream(a, name="A", key="item", time="opened", window=10, punctuations=pt.unique())
    bids = pt.stream(b, name="B", key="item", time="at", punctuations=pt.when("closed"))
    joined: pt.Join = pt.join(auctions, bids)
    return joined


def files_entered(run: Callable[[], Any]) -> list[str]:
    """Files of the package in the order in which a call first enters them."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and frame.f_code.co_name != "<module>" and path.is_relative_to(PACKAGE):
            found.setdefault(path.relative_to(PACKAGE).as_posix())

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return list(found)
