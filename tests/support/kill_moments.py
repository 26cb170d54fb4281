"""When to kill what runs a query, for the tests on one host and on a cluster."""

from random import Random


def next_moment(done: int, n_left: int, n_kills: int, random: Random) -> int:
    """After how many micro-batches to kill, of which so many are `done`: there is time for the kills that follow."""
    return done + random.randint(1, max(1, n_left // (n_kills + 1)))
