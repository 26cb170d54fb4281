"""What joins of many streams remember, and what is the same however they are asked for."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare

pytestmark = pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")  # where nobody says that values end

LIFE, STEP = 30, 10  # how long a value is open, and how long after the one before it begins


def values_that_end(n_values: int, seed: int, fewest: int = 1, most: int = 4) -> pa.Table:
    """Values come and go; the last tuple of each says that it is over.

    0   0 . 0 .. 0!
    1       1 1 . .. 1!
    2           .. 2 . . 2!
    """
    random = np.random.default_rng(seed)
    counts = random.integers(fewest, most + 1, n_values)
    keys = np.repeat(np.arange(n_values), counts)
    times = keys * STEP + random.integers(0, LIFE, keys.size)
    order = np.lexsort((times, keys))
    keys, times = keys[order], times[order]
    last = np.append(keys[1:] != keys[:-1], True)
    in_time = np.lexsort((last, times))
    return pa.table({"k": keys[in_time], "ts": times[in_time], "last": last[in_time]})


def values_of_forty(seed: int) -> pa.Table:
    return values_that_end(40, seed)


def stream(name: str, table: pa.Table, *, ends: bool = True) -> pt.TableStream:
    """Columns beside the key have names that no other stream has."""
    named = table.rename_columns(["k", f"{name}_ts", f"{name}_last"])
    punctuations = pt.when(f"{name}_last") if ends else None
    return declare(named, name=name, key="k", time=f"{name}_ts", punctuations=punctuations)


def states(joined: pt.Join, **weights: int) -> dict[Any, int]:
    """How many tuples are stored at each time, before its tuples; those of some states may count several times."""
    columns = [name for name in joined.metrics.column_names if name.startswith("state_")]
    found: dict[Any, int] = {}
    for sample in joined.metrics.select(["ts", *columns]).to_pylist():
        found.setdefault(sample["ts"], sum(sample[name] * weights.get(name, 1) for name in columns))
    return found


def peak(joined: pt.Join) -> int:
    return max(states(joined).values())


# Values that end


def most_in_open_values(tables: list[pa.Table]) -> int:
    """The most tuples that have come, at any time, of values that not all streams have ended."""
    keys, times = (np.concatenate([table[name] for table in tables]) for name in ("k", "ts"))
    over = np.zeros(keys.max() + 1, np.int64)
    np.maximum.at(over, keys, times)  # each stream ends a value with its last tuple
    moments = np.arange(times.max() + 2)
    came, gone = np.searchsorted(np.sort(times), moments), np.searchsorted(np.sort(over[keys]), moments)
    return int((came - gone).max())


@pytest.mark.parametrize("algorithm", ["hw", "mw"])
def test_the_state_of_four_streams_is_bounded_by_open_values_however_long_they_run(algorithm: str) -> None:
    peaks, bounds = [], []
    for n_values in (25, 4 * 25, 16 * 25):
        tables = [values_that_end(n_values, seed) for seed in range(4)]
        joined = pt.join(*map(stream, "ABCD", tables), algorithm=algorithm, sample_every=1)
        peaks.append(peak(joined))
        bounds.append(most_in_open_values(tables))
        assert sorted(joined.punctuations["k"].to_pylist()) == list(range(n_values))
    assert all(found <= bound for found, bound in zip(peaks, bounds, strict=True))
    assert peaks[2] <= 2 * peaks[0]


def test_without_endings_the_same_streams_are_stored_to_the_last_tuple() -> None:
    tables = [values_that_end(25, seed) for seed in range(4)]
    joined = pt.join(*(stream(name, table, ends=False) for name, table in zip("ABCD", tables, strict=True)))
    *_, before_the_end, _ = joined.metrics.to_pylist()
    assert [before_the_end[f"state_{i}"] for i in range(1, 5)] == [table.num_rows for table in tables]


# One join or a chain of two


def three_and_chain(tables: list[pa.Table]) -> tuple[pt.Join, pt.Join, pt.Join]:
    """Three streams in one join; the first join of a chain, and the second."""
    a, b, c = map(stream, "ABC", tables)
    first = pt.join(a, b, sample_every=1)
    return pt.join(a, b, c, sample_every=1), first, pt.join(first, c, sample_every=1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("fewest", "members"), [(0, 2), (1, 2), (2, 1)])
def test_three_streams_hold_at_most_what_a_chain_of_two_joins_holds(seed: int, fewest: int, members: int) -> None:
    """At every moment, where a pair of the chain counts as the two tuples that it has; and where every value has two
    tuples or more in each stream, even where a pair counts as one: x times y is not less than x plus y then.
    """
    tables = [values_that_end(40, 3 * seed + place, fewest) for place in range(3)]
    three, first, second = three_and_chain(tables)
    assert three.results.num_rows == second.results.num_rows > 0
    together, pairs_apart, rest = states(three), states(first), states(second, state_left=members)
    moments = together.keys() & pairs_apart.keys() & rest.keys()
    assert len(moments) > 350
    assert [at for at in moments if together[at] > pairs_apart[at] + rest[at]] == []
    assert max(together.values()) < max(pairs_apart[at] + rest[at] for at in moments)


def test_a_single_pair_of_a_chain_is_one_row_for_two_tuples() -> None:
    """Both have ended the value, and wait for C: counted in rows the chain has less."""
    row = {"k": [1], "ts": [0], "last": [True]}
    later = {"k": [2, 1], "ts": [5, 9], "last": [False, True]}
    three, first, second = three_and_chain([pa.table(row), pa.table(row), pa.table(later)])
    assert [sum(sample[f"state_{i}"] for i in (1, 2)) for sample in three.metrics.to_pylist()][:5] == [2] * 5
    assert set(states(first).values()) == {0}
    assert [sample["state_left"] for sample in second.metrics.to_pylist()][:5] == [1] * 5


# The same, however it is asked for


def any_table(seed: int, n: int = 80) -> pa.Table:
    """Values come back after their end, too: some tuples break their stream's promises."""
    random = np.random.default_rng(seed)
    ends = random.random(n) < 0.1
    return pa.table({"k": random.integers(0, 12, n), "ts": np.sort(random.integers(0, 100, n)), "last": ends})


def said(joined: pt.Join) -> Counter[Any]:
    return Counter((row["k"], row["ts"], row["reason"]) for row in joined.punctuations.to_pylist())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("within", [None, 0, 7, 40])
@pytest.mark.parametrize("make", [values_of_forty, any_table])
def test_two_streams_by_hw_give_what_pwjoin_gives(make: Any, within: int | None, seed: int) -> None:
    a, b = (stream(name, make(2 * seed + place)) for place, name in enumerate("AB"))
    one, other = (pt.join(a, b, within=within, algorithm=algorithm) for algorithm in ("hw", "pwjoin"))
    found, wanted = (Counter(map(tuple, map(dict.values, each.results.to_pylist()))) for each in (one, other))
    assert found == wanted and found
    assert said(one) == said(other) and said(one)
    assert one.rejected.sort_by("ts").to_pylist() == other.rejected.sort_by("ts").to_pylist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("within", [None, 9, {("A", "B"): 5, ("C", "B"): 12}, {("C", "A"): 20, ("A", "B"): 3}])
@pytest.mark.parametrize("make", [values_of_forty, any_table])
def test_the_order_of_the_streams_does_not_matter(make: Any, within: Any, seed: int) -> None:
    """But for the reason of an output punctuation: of streams that speak at one moment the first one is heard first,
    and what it says may be enough for `early`.
    """
    streams = [stream(name, make(3 * seed + place)) for place, name in enumerate("ABC")]
    joined = [pt.join(*order, within=within) for order in permutations(streams)]
    rows = [Counter(tuple(sorted(row.items())) for row in each.results.to_pylist()) for each in joined]
    assert all(each == rows[0] for each in rows) and rows[0]
    told = [Counter((key, ts) for key, ts, _ in said(each).elements()) for each in joined]
    assert all(each == told[0] for each in told) and told[0]
