"""Packets along a path: which packets pass all four routers, each soon after the one before, and how long do they take?

python examples/packets.py

A stream for each router says which packet it has seen when. A path allows 50 ms from router to router. Some packets are
lost on the way, and some are late. By the path alone, a packet is remembered until no router can see it in time. But a
router sees a packet once: when it has come to the end of the path, it is forgotten at all routers at once.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import punctuated as pt

ROUTERS = ("paris", "lyon", "nice", "rome")
STEP = "50 milliseconds"
LOST, LATE = 0.01, 0.02  # of the packets, on each step


def generate(n: int = 20_000, seed: int = 5) -> dict[str, pa.Table]:
    """Of each router: which packet was seen when, in microseconds. A packet is sent each millisecond or so."""
    random = np.random.default_rng(seed)
    at = np.cumsum(random.exponential(1_000, n)).astype(np.int64)
    alive, seen = np.ones(n, np.bool_), {}
    for router in ROUTERS:
        packet = np.flatnonzero(alive)[np.argsort(at[alive], kind="stable")]
        seen[router] = pa.table({"packet": packet, "at": at[packet]})
        at += (2_000 + random.exponential(5_000, n) + 60_000 * (random.random(n) < LATE)).astype(np.int64)
        alive &= random.random(n) >= LOST
    return seen


def query(seen: dict[str, pa.Table], once: bool) -> pt.Join:
    """Packets that were seen by all routers in this order; `once` says that no router sees a packet again."""
    punctuations = pt.unique() if once else None
    routers = [
        pt.stream(table, name=name, key="packet", time="at", punctuations=punctuations) for name, table in seen.items()
    ]
    joined: pt.Join = pt.path(*routers, within=[STEP] * (len(routers) - 1), sample_every="100 milliseconds")
    return joined


def answer(seen: dict[str, pa.Table]) -> list[str]:
    """What was asked for, line by line."""
    joined = query(seen, once=True)
    first, *_, last = ROUTERS
    taken = pc.subtract(joined.results[f"{last}_at"], joined.results[f"{first}_at"])
    median, most = (value.as_py() / 1_000 for value in (pc.approximate_median(taken), pc.max(taken)))
    return [
        f"Packets seen by {', then '.join(ROUTERS)}, at most {STEP} apart",
        "",
        *(f"  {name:<6}  {table.num_rows:>7,} packets" for name, table in seen.items()),
        f"  {'path':<6}  {joined.results.num_rows:>7,} packets, in {median:.1f} ms (median), {most:.1f} ms at most",
        "",
        f"  remembered at most: {most_stored(query(seen, once=False)):>5,} sightings, if only the path is known",
        f"                      {most_stored(joined):>5,} sightings, if a router sees a packet once",
    ]


def most_stored(joined: pt.Join) -> int:
    """The most tuples that all streams together had stored at a time."""
    states = [f"state_{place}" for place in range(1, len(ROUTERS) + 1)]
    return max(sum(int(sample[state]) for state in states) for sample in joined.metrics.to_pylist())


def main() -> None:
    """Print the answer."""
    print("\n".join(answer(generate())))


if __name__ == "__main__":
    main()
