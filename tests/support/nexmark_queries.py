"""Queries 4, 8 and 9 of NEXMark over tables or DataFrames, and the same in SQL for DuckDB."""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.streams.nexmark import CATEGORIES

SPAN = "400 milliseconds"  # of query 8: how soon after registering a person must open an auction
ANSWERS = {
    "q4": """
        SELECT category, count(*), avg(final) FROM (
            SELECT a.id, a.category, max(b.price) AS final FROM auctions a JOIN bids b ON a.id = b.auction
            WHERE b.at BETWEEN a.opened AND a.expires GROUP BY a.id, a.category
        ) GROUP BY category
        """,
    "q8": f"""
        SELECT p.id, p.name, count(*) FROM persons p JOIN auctions a ON p.id = a.seller
        WHERE a.opened BETWEEN p.registered AND p.registered + INTERVAL '{SPAN}' GROUP BY p.id, p.name
        """,
    "q9": """
        SELECT a.id, max(b.price), count(*) FROM auctions a JOIN bids b ON a.id = b.auction
        WHERE b.at BETWEEN a.opened AND a.expires GROUP BY a.id
        """,
}


def answers(events: pt.streams.Nexmark) -> dict[str, list[tuple[Any, ...]]]:
    """What DuckDB finds."""
    connection = duckdb.connect(config={"threads": 1})
    for name, table in events._asdict().items():
        connection.register(name, table)
    return {name: sorted(connection.execute(sql).fetchall()) for name, sql in ANSWERS.items()}


def shuffled(table: pa.Table, n_batches: int, seed: int) -> list[pa.Table]:
    """The rows in batches, in any order."""
    rows = table.take(pa.array(np.random.default_rng(seed).permutation(len(table))))
    bounds = np.linspace(0, len(rows), n_batches + 1).astype(int)
    return [rows.slice(start, stop - start) for start, stop in pairwise(bounds)]


def joined_bids(auctions: Any, bids: Any, lateness: str = "0 seconds") -> Any:
    """Bids within the life of their auction."""
    opened = pt.stream(
        auctions,
        name="A",
        key="id",
        time="opened",
        window=pt.until("expires"),
        punctuations=pt.unique(),
        lateness=lateness,
    )
    return pt.join(opened, pt.stream(bids, name="B", key="auction", time="at", window="0 seconds", lateness=lateness))


def q9(joined: Any) -> Any:
    """The highest bid of each auction, when it is over."""
    return joined.group_by("id").agg(final=pt.max("price"), n=pt.count())


def q4(joined: Any, categories: Any) -> Any:
    """The average of final prices per category: groups of groups."""
    finals = joined.group_by("id", "category").agg(final=pt.max("price"))
    of_category = pt.stream(categories, name="C", key="category", time="since", punctuations=pt.unique())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.UnboundedStateWarning)  # there are five categories
        by_category = pt.join(of_category, pt.stream(finals, name="final", key="category"))
    return by_category.group_by("category").agg(n=pt.count(), average=pt.mean("final"))


def q8(persons: Any, auctions: Any, lateness: str = "0 seconds") -> Any:
    """Persons who open auctions soon after they have registered."""
    new = pt.stream(
        persons,
        name="P",
        key="id",
        time="registered",
        window=SPAN,
        punctuations=pt.unique(),
        lateness=lateness,
    )
    opened = pt.stream(auctions, name="A", key="seller", time="opened", window="0 seconds", lateness=lateness)
    return pt.join(new, opened).group_by("id", "name").agg(n=pt.count())


def categories() -> pa.Table:
    """They are there from the beginning."""
    since = pa.array([0] * CATEGORIES, pa.timestamp("us", "UTC"))
    return pa.table({"category": np.arange(CATEGORIES), "since": since})


def rows(table: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Sorted, for comparison."""
    return sorted(zip(*(table[name].to_pylist() for name in names), strict=True))
