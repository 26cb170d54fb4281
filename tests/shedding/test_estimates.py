"""Estimates against the whole join: right on average, errors as large as they say, in whatever pieces they come."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from punctuated.arrow.ipc import from_ipc, unpack_bundle
from punctuated.errors import AggregateError
from punctuated.kernels.layout import FOREVER
from punctuated.model.aggregate import Aggregate
from punctuated.model.spec import RIGHT, Side
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.group_by import GroupBy
from punctuated.output.groups.grouping import check_grouping, describe_grouping
from punctuated.output.punctuations import OutputPunctuations
from punctuated.output.views import punctuation_schema
from punctuated.shedding.coins import Shares, flip_coins
from punctuated.shedding.estimates import PAIR_SCHEMA, PROBING, STORED, UNTIL, GroupEstimates, P, Q, pair_columns

Mask = npt.NDArray[np.bool_]
AGGREGATES = {
    "n": Aggregate("count"),
    "m": Aggregate("count", "v"),
    "s": Aggregate("sum", "v"),
    "a": Aggregate("mean", "v"),
}
COUNT = {"n": Aggregate("count")}
SCHEMA = pa.schema([("k", pa.int64()), ("c", pa.string()), ("v", pa.float64())])


@dataclass
class Whole:
    """A join by brute force: for each pair the places of its stored and its probing tuple, and its row."""

    stored: list[int]
    probing: list[int]
    rows: pa.Table

    def truth(self, function: str, mask: Mask | None = None) -> float:
        chosen = self.rows if mask is None else self.rows.filter(pa.array(mask))
        values = [value for value in chosen["v"].to_pylist() if value is not None]
        total = math.fsum(values)
        return {"n": len(chosen), "m": len(values), "s": total, "a": total / len(values)}[function]

    def sample(self, came_out: Mask, ids: npt.NDArray[np.int64], p: Any, q: Any) -> pa.Table:
        """Rows that came out, by trial and pair, with what the estimates ask for; `p` and `q` by tuple."""
        pair = np.nonzero(came_out)[1]
        i, j = np.array(self.stored)[pair], np.array(self.probing)[pair]
        hidden = [ids[i], ids[j], np.asarray(p)[j], np.asarray(q)[i], np.full(pair.size, FOREVER)]
        columns = {field.name: pa.array(column) for field, column in zip(PAIR_SCHEMA, hidden, strict=True)}
        return pa.table({**dict(zip(SCHEMA.names, self.rows.take(pa.array(pair)).columns, strict=True)), **columns})


def whole_join(sides: Sequence[int], keys: Sequence[int], values: Sequence[float | None], window: int) -> Whole:
    """Tuples come one per time; the value of a pair is the right one's."""
    stored, probing, rows = [], [], []
    for j in range(len(sides)):
        for i in range(max(0, j - window), j):
            if sides[i] != sides[j] and keys[i] == keys[j]:
                stored.append(i)
                probing.append(j)
                value = values[j if sides[j] == RIGHT else i]
                rows.append({"k": keys[j], "c": "ab"[i % 2] if i % 3 else None, "v": value})
    return Whole(stored, probing, pa.Table.from_pylist(rows, schema=SCHEMA))


def estimate(pairs: pa.Table, groups: npt.NDArray[np.int64], n_groups: int) -> dict[str, npt.NDArray[np.float64]]:
    """By column; what is null counts as nothing."""
    estimates = GroupEstimates(AGGREGATES)
    estimates.add(groups, n_groups, pairs)
    return {
        name: np.nan_to_num(np.asarray(column, np.float64))
        for name, column in estimates.finish(np.ones(n_groups, np.bool_)).items()
    }


# Unbiased


def test_over_all_outcomes_estimates_and_variances_are_exact() -> None:
    """Five tuples have ten coins: each of the 1024 outcomes is a group, and expectations are sums over them."""
    whole = whole_join([0, 1, 0, 1, 0], [1] * 5, [1.0, 2.0, 3.0, None, 5.0], window=9)
    p, q = [0.3, 0.9, 0.5, 0.4, 1.0], [0.7, 0.2, 1.0, 0.6, 0.8]
    outcomes = np.array(list(itertools.product([False, True], repeat=10)))
    probability = np.where(outcomes, [*p, *q], 1 - np.array([*p, *q])).prod(axis=1)
    came_out = outcomes[:, whole.probing] & outcomes[:, 5 + np.array(whole.stored)]
    pairs = whole.sample(came_out, np.arange(5), p, q)
    found = estimate(pairs, np.nonzero(came_out)[0], len(outcomes))
    assert len(whole.stored) == 6 and probability.sum() == pytest.approx(1)
    for name in ("n", "m", "s"):
        truth = whole.truth(name)
        assert probability @ found[name] == pytest.approx(truth)
        variance = probability @ (found[name] - truth) ** 2
        assert variance > 1
        assert probability @ found[f"{name}_error"] ** 2 == pytest.approx(variance)


def test_over_many_random_outcomes_too() -> None:
    random = np.random.default_rng(5)
    n, trials = 60, 20_000
    values = [None if v < 0.5 else float(v) for v in random.gamma(2, 3, n)]
    whole = whole_join(random.integers(0, 2, n).tolist(), random.integers(0, 2, n).tolist(), values, window=30)
    p, q = random.choice([0.3, 0.5, 0.8, 1.0], n), random.choice([0.4, 0.6, 1.0], n)
    came_out = (random.random((trials, n)) < p)[:, whole.probing] & (random.random((trials, n)) < q)[:, whole.stored]
    found = estimate(whole.sample(came_out, np.arange(n), p, q), np.nonzero(came_out)[0], trials)
    for name in ("n", "m", "s"):
        spread = found[name].std()
        assert abs(found[name].mean() - whole.truth(name)) < 4 * spread / math.sqrt(trials)
        assert (found[f"{name}_error"] ** 2).mean() == pytest.approx(spread**2, rel=0.05)
    assert found["a"].mean() == pytest.approx(whole.truth("a"), rel=0.01)
    assert (found["a_error"] ** 2).mean() == pytest.approx(found["a"].var(), rel=0.15)  # linearised


# Coverage

N_SEEDS = 200
SHARES = {
    "few probe": [Shares((0.3, 0.3), (1.0, 1.0))] * 2,
    "few are stored": [Shares((1.0, 1.0), (0.2, 0.2))] * 2,
    "both": [Shares((0.4, 0.4), (0.4, 0.4))] * 2,
    "shares change": [Shares((0.2, 0.6), (0.7, 0.3)), Shares((0.9, 0.3), (0.2, 1.0)), Shares((0.5, 0.5), (0.5, 0.5))],
}


@pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES.keys())
def test_the_truth_lies_within_the_errors_as_often_as_it_should(shares: list[Shares]) -> None:
    """An auction-like join of two keys over 1000 tuples; the coins are the real ones, a seed after another."""
    random = np.random.default_rng(11)
    n = 1000
    sides, keys = random.integers(0, 2, n), random.integers(0, 2, n)
    values = random.lognormal(3, 0.7, n)
    whole = whole_join(sides.tolist(), keys.tolist(), values.tolist(), window=80)
    tuples = pa.table({"side": sides, "k": keys, "ts": np.arange(n), "v": values})
    batch = np.arange(n) * len(shares) // n
    p = np.array([shares[b].probe[side] for b, side in zip(batch, sides, strict=True)])
    q = np.array([shares[b].store[side] for b, side in zip(batch, sides, strict=True)])
    ids, probes, stores = np.zeros(n, np.int64), np.ones((N_SEEDS, n), np.bool_), np.ones((N_SEEDS, n), np.bool_)
    for b, seed, side in itertools.product(range(len(shares)), range(N_SEEDS), Side):
        mine = np.flatnonzero((batch == b) & (sides == side))
        coins = flip_coins(tuples.take(pa.array(mine)).drop_columns(["side"]), side, seed, shares[b])
        ids[mine], probes[seed, mine], stores[seed, mine] = coins
    came_out = probes[:, whole.probing] & stores[:, whole.stored]
    pairs = whole.sample(came_out, ids, p, q)
    groups = 2 * np.nonzero(came_out)[0] + np.asarray(pairs["k"])
    found = estimate(pairs, groups, 2 * N_SEEDS)
    for key in (0, 1):
        mask = np.asarray(whole.rows["k"]) == key
        assert mask.sum() > 4000
        for name in ("n", "s", "a"):
            truth = whole.truth(name, mask)
            distance = np.abs(found[name][key::2] - truth) / found[f"{name}_error"][key::2]
            assert 0.90 <= (distance < 1.96).mean() <= 0.99


# In pieces


def plain(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """The estimates by their definition: every pair of pairs that came out, over the chance that both do."""

    def variance(values: list[float]) -> float:
        total = 0.0
        for (a, y), (b, z) in itertools.product(zip(rows, values, strict=True), repeat=2):
            alone = a[Q] * a[P] * b[Q] * b[P]
            same_i, same_j = a[STORED] == b[STORED], a[PROBING] == b[PROBING]
            together = alone / (a[Q] if same_i else 1) / (a[P] if same_j else 1)
            total += y * z * (together / alone - 1) / together
        return total

    def estimated(values: list[float]) -> float:
        return math.fsum(y / (a[Q] * a[P]) for a, y in zip(rows, values, strict=True))

    ones, known = [1.0] * len(rows), [float(row["v"] is not None) for row in rows]
    values = [row["v"] or 0.0 for row in rows]
    n, total = estimated(known), estimated(values)
    found = {"n": estimated(ones), "n_error": variance(ones), "m": n, "m_error": variance(known)}
    found |= {"s": total, "s_error": variance(values), "a": 0.0, "a_error": 0.0}
    if n:
        residuals = [(y - total / n * x) / n for x, y in zip(known, values, strict=True)]
        found |= {"a": total / n, "a_error": variance(residuals)}
    rooted = {name: math.sqrt(max(0.0, each)) if "_" in name else each for name, each in found.items()}
    return {name: None if not n and name[0] in "sa" else each for name, each in rooted.items()}


def sampled(seed: int, n: int = 120) -> pa.Table:
    """What a join of three keys lets through, in the order of the probing tuples."""
    random = np.random.default_rng(seed)
    values = [None if v < 1 else float(v) for v in random.normal(4, 4, n)]
    whole = whole_join(random.integers(0, 2, n).tolist(), random.integers(0, 3, n).tolist(), values, window=40)
    p, q = random.choice([0.3, 0.8, 1.0], n), random.choice([0.4, 1.0], n)
    came_out = ((random.random(n) < p)[whole.probing] & (random.random(n) < q)[whole.stored])[None, :]
    pairs = whole.sample(came_out, np.arange(n) + 100, p, q)
    until = pa.array(np.asarray(pairs[STORED]) - 100 + 40)
    return pairs.set_column(pairs.column_names.index(UNTIL), UNTIL, until)


def new_groups(by: list[str]) -> GroupBy:
    return GroupBy(SCHEMA, by, ["k"], AGGREGATES, sheds=True)


def cut(pairs: pa.Table, n_batches: int) -> list[BatchResult]:
    """Batches by the place of the probing tuple; the watermark is where the next one begins."""
    place = np.asarray(pairs[PROBING]) - 100
    edges = np.linspace(0, 120, n_batches + 1).astype(int)
    batches = []
    for low, high in itertools.pairwise(edges.tolist()):
        part = pairs.filter(pa.array((place >= low) & (place < high)))
        half = len(part) // 2
        tables = [part] if n_batches > 1 else [part.slice(0, half), part.slice(half)]
        batches.append(BatchResult(tables, watermark=high))
    batches[-1].ended = True
    return batches


def by_group(table: pa.Table, by: list[str]) -> dict[Any, dict[str, Any]]:
    rows = {tuple(row.pop(name) for name in by): row for row in table.to_pylist()}
    assert len(rows) == len(table)
    return rows


def assert_same(one: dict[Any, dict[str, Any]], two: dict[Any, dict[str, Any]]) -> None:
    assert one.keys() == two.keys()
    for group, row in one.items():
        for name, value in row.items():
            if value is None:
                assert two[group][name] is None
            else:
                assert two[group][name] == pytest.approx(value, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("by", [["k"], ["c"], ["k", "c"], ["v"]])
@pytest.mark.parametrize("n_batches", [1, 7, 40])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_groups_in_any_number_of_batches_equal_the_definition(by: list[str], n_batches: int, seed: int) -> None:
    pairs = sampled(seed)
    *earlier, last = cut(pairs, n_batches)
    groups, restored = new_groups(by), new_groups(by)
    for batch in earlier:
        groups.process(batch)
        restored.process(batch)
        saved = restored.save()
        restored = new_groups(by)
        restored.load(saved)
    found, same = groups.process(last), restored.process(last)
    members = defaultdict(list)
    for row in pairs.to_pylist():
        members[tuple(row[name] for name in by)].append(row)
    assert found.schema == groups.schema
    assert_same({group: plain(rows) for group, rows in members.items()}, by_group(found, by))
    assert_same(by_group(found, by), by_group(same, by))


def test_a_final_group_comes_out_with_its_punctuation_and_leaves_nothing() -> None:
    pairs = sampled(4)
    pairs = pairs.set_column(pairs.column_names.index(UNTIL), UNTIL, pa.array(np.full(len(pairs), FOREVER)))
    *earlier, last = cut(pairs, 5)
    groups, expected = new_groups(["k"]), new_groups(["k"])
    for batch in earlier:
        groups.process(batch)
        expected.process(batch)
    whole = expected.process(last)
    last.ended = False
    for key, left in ((1, {0, 2}), (0, {2}), (2, set())):
        nothing = np.zeros(1, np.int64)
        schema = punctuation_schema(["k"], [pa.int64()])
        last.punctuations = [
            OutputPunctuations(schema, partial(list, [pa.array([key])]), nothing, nothing, pa.array(["both"]))
        ]
        found = groups.process(last)
        assert_same({(key,): by_group(whole, ["k"])[key,]}, by_group(found, ["k"]))
        last = BatchResult()
        kept = {name: from_ipc(data) for name, data in unpack_bundle(groups.save()).items()}
        assert set(kept["groups"]["k"].to_pylist()) == left
        assert len(kept["sums"]) == len(left)
        assert {kept["groups"]["k"][place].as_py() for place in kept["stored"]["group"].to_pylist()} == left


def test_stored_tuples_are_remembered_only_while_they_can_be_met() -> None:
    pairs = sampled(6)
    estimates = GroupEstimates(AGGREGATES)
    estimates.add(np.zeros(len(pairs), np.int64), 1, pairs)
    open_ones = {row[STORED] for row in pairs.to_pylist() if row[Q] < 1 and row[UNTIL] >= 100}
    assert estimates.n_stored > len(open_ones) > 0
    estimates.fold(100)
    assert estimates.n_stored == len(open_ones)
    assert estimates.finish(np.ones(1, np.bool_))["n_error"][0].as_py() == pytest.approx(
        plain(pairs.to_pylist())["n_error"]
    )


def test_where_nothing_was_shed_the_estimates_are_the_aggregates() -> None:
    pairs = sampled(7)
    for name in (P, Q):
        pairs = pairs.set_column(pairs.column_names.index(name), name, pa.array(np.ones(len(pairs))))
    results = pairs.select(SCHEMA.names)
    exact = GroupBy(SCHEMA, ["k", "c"], ["k"], AGGREGATES)
    theirs = by_group(exact.process(BatchResult([results], ended=True)), ["k", "c"])
    mine = by_group(new_groups(["k", "c"]).process(BatchResult([pairs], ended=True)), ["k", "c"])
    for group, row in theirs.items():
        for name, value in row.items():
            assert mine[group][name] == (None if value is None else pytest.approx(value))
            error = mine[group][f"{name}_error"]
            assert error is None if value is None else error == pytest.approx(0, abs=1e-6)


def test_integers_and_decimals_of_any_size() -> None:
    schema = pa.schema([("k", pa.int64()), ("i", pa.int64()), ("d", pa.decimal128(20, 2))])
    rows = [{"k": 1, "i": 2**62 + 1, "d": 1}, {"k": 1, "i": None, "d": 2}]
    hidden = {STORED: [1, 1], PROBING: [2, 3], P: [0.5, 0.5], Q: [0.5, 0.5], UNTIL: [9, 9]}
    pairs = pa.Table.from_pylist(rows, schema=schema)
    for name, values in hidden.items():
        pairs = pairs.append_column(name, pa.array(values))
    sums = {"i": Aggregate("sum", "i"), "d": Aggregate("sum", "d")}
    groups = GroupBy(schema, ["k"], ["k"], sums, sheds=True)
    table = groups.process(BatchResult([pairs], ended=True))
    assert table.select(["i", "d"]).to_pylist() == [{"i": 4.0 * 2**62, "d": 12.0}]


# The edges


def test_hidden_columns_tell_who_was_stored() -> None:
    columns = pair_columns(
        np.array([True, False]),
        (np.array([1, 2]), np.array([3, 4])),
        (0.1, 0.2),
        (np.array([0.3, 0.4]), np.array([0.5, 0.6])),
        (np.array([10, 11]), np.array([12, 13])),
    )
    rows = pa.table(columns, schema=PAIR_SCHEMA).to_pylist()
    assert [tuple(row.values()) for row in rows] == [(1, 3, 0.2, 0.3, 10), (4, 2, 0.1, 0.6, 13)]


@pytest.mark.parametrize("function", ["min", "max", "first", "last"])
def test_what_a_sample_does_not_tell(function: Any) -> None:
    with pytest.raises(AggregateError, match=rf"{function}\('v'\) cannot be estimated.*pt.count, pt.sum or pt.mean"):
        check_grouping(SCHEMA, ["k"], {"x": Aggregate(function, "v")}, sheds=True)
    check_grouping(SCHEMA, ["k"], {"x": Aggregate(function, "v")})


def test_a_standard_error_gives_way_to_other_columns() -> None:
    estimates = GroupEstimates(COUNT | {"n_error": Aggregate("sum", "v")}, by=["n_error_"])
    assert list(estimates.finish(np.zeros(0, np.bool_))) == ["n", "n_error__", "n_error", "n_error_error"]


def test_estimates_are_another_grouping() -> None:
    assert describe_grouping(["k"], COUNT) != describe_grouping(["k"], COUNT, sheds=True)
