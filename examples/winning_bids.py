"""Query 9 of NEXMark: the winning bid of every auction, reported when the auction is over.

python examples/winning_bids.py

An auction knows when it expires: that is its window, `pt.until("expires")`. No punctuation of the bids is needed. When
the bids have got to that time, the auction is forgotten and its winner comes out.
"""

import pyarrow as pa
import pyarrow.compute as pc

import punctuated as pt

SHOWN = 5


def query(events: pt.streams.Nexmark) -> pt.Join:
    """Bids within the life of their auction."""
    auctions = pt.stream(
        events.auctions,
        name="auctions",
        key="id",
        time="opened",
        window=pt.until("expires"),
        punctuations=pt.unique(),  # an auction opens once: no bid waits for another opening
    )
    bids = pt.stream(events.bids, name="bids", key="auction", time="at", window="0 seconds")  # never before the opening
    joined: pt.Join = pt.join(auctions, bids)
    return joined


def winners(joined: pt.Join) -> pa.Table:
    """A row per auction, when it is over."""
    return joined.group_by("id", "category").agg(price=pt.max("price"), bids=pt.count())


def answer(events: pt.streams.Nexmark, joined: pt.Join) -> list[str]:
    """What was asked for, line by line."""
    won, metrics = winners(joined), joined.metrics
    highest = won.sort_by([("price", "descending"), ("id", "ascending")]).slice(0, SHOWN).to_pylist()
    n_auctions, n_bids = events.auctions.num_rows, events.bids.num_rows
    return [
        f"{n_auctions:,} auctions, {n_bids:,} bids; {won.num_rows:,} auctions have a winner. The highest prices:",
        "",
        "  auction  category  bids    price",
        *(f"  {each['id']:>7}  {each['category']:>8}  {each['bids']:>4}  {each['price']:>7,}" for each in highest),
        "",
        f"{n_bids - joined.results.num_rows:,} bids came after the expiry.",
        f"At most {pc.max(metrics['state_left']).as_py()} auctions were remembered at a time,"
        f" and {pc.max(metrics['state_right']).as_py()} bids.",
    ]


def main() -> None:
    """Print the answer."""
    events = pt.streams.nexmark(50_000, seed=9)
    print("\n".join(answer(events, query(events))))


if __name__ == "__main__":
    main()
