"""The optimizer: what it weighs, and when it changes its mind."""

import math
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.join.tactics.window_statistics import Observation
from punctuated.plan.cost import KANG_WEIGHTS, Weights, best
from punctuated.plan.cost.calibration import REFERENCE_WEIGHTS
from punctuated.plan.optimizer import StructureChooser, value_index_cost


def chooser(predicate: str = "=", weights: Weights = KANG_WEIGHTS) -> StructureChooser:
    return StructureChooser(predicate, weights, bucket_size=10, node_size=100)


def test_the_cheapest_pair_is_taken_where_it_saves_enough() -> None:
    seen = Observation(rates=(2, 998), windows=(9500, 500))
    cheapest = best(windows=seen.windows, rates=seen.rates)
    assert "".join(chooser()(seen, ("N", "N"))) == cheapest != "NN"


def test_structures_stay_where_little_is_saved() -> None:
    seen = Observation(rates=(220, 780), windows=(5000, 5000))  # near the crossover of TH and HH
    costs = {each.pair: each.cost for each in chooser().candidates(seen)}
    assert 0.8 * costs["TH"] < min(costs.values()) < costs["TH"]
    assert chooser()(seen, ("T", "H")) == ("T", "H")


def test_an_index_of_values_costs_more_where_keys_hardly_recur() -> None:
    seen = Observation(rates=(500, 500), windows=(1000, 1000))
    costs = [value_index_cost(seen, n_values) for n_values in (10, 1000, 100_000)]
    assert costs == sorted(costs) and costs[2] > 1.2 * costs[0]
    with_matches = Observation(seen.rates, seen.windows, matches=(5, 10))
    assert value_index_cost(with_matches, 100) > value_index_cost(seen, 100)


def test_costs_grow_with_the_rates() -> None:
    slow, fast = (Observation((rate, rate), (100, 100)) for rate in (10, 1000))
    assert math.isclose(100 * value_index_cost(slow, 50), value_index_cost(fast, 50))


def test_a_plan_lists_the_index_of_values_among_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punctuated.plan.optimizer.machine_weights", lambda: REFERENCE_WEIGHTS)
    rng = np.random.default_rng(1)
    left, right = (
        pt.stream(
            pa.table({"k": rng.integers(0, 50, 4000), "ts": np.arange(4000) * 1000}),
            name=name,
            key="k",
            time="ts",
            window=pt.rows(300),
        )
        for name in ("one", "two")
    )
    (line,) = [line for line in pt.join(left, right).explain().splitlines() if "candidates" in line]
    costs = [each.rsplit(" ", 1) for each in line.split(": ", 1)[1].split(", ")]
    names, numbers = [name for name, _ in costs], [float(number) for _, number in costs]
    assert names[0] == "index of values" and sorted(names[1:]) == sorted(map("".join, product("NHBT", repeat=2)))
    assert numbers == sorted(numbers)
