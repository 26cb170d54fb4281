"""The optimizer: what it weighs, and when it changes its mind."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.errors import CostError
from punctuated.model.load import Observation
from punctuated.plan.cost import KANG_WEIGHTS, CostModel, ValueIndexWeight, Weights, best
from punctuated.plan.cost.weights import REFERENCE_WEIGHTS
from punctuated.plan.optimizer import StructureChooser
from table_streams import declare


def chooser(predicate: str = "=", weights: Weights = KANG_WEIGHTS) -> StructureChooser:
    return StructureChooser(CostModel(weights), predicate)


def test_the_cheapest_pair_is_taken_where_it_saves_enough() -> None:
    seen = Observation.unshed(rates=(2, 998), windows=(9500, 500))
    cheapest = best(windows=seen.windows, rates=seen.rates)
    assert "".join(chooser()(seen, ("N", "N"))) == cheapest != "NN"


def test_structures_stay_where_little_is_saved() -> None:
    seen = Observation.unshed(rates=(220, 780), windows=(5000, 5000))  # near the crossover of TH and HH
    costs = {each.pair: each.cost for each in chooser().candidates(seen)}
    assert 0.8 * costs["TH"] < min(costs.values()) < costs["TH"]
    assert chooser()(seen, ("T", "H")) == ("T", "H")


MODEL = CostModel(REFERENCE_WEIGHTS)


def test_an_index_of_values_costs_more_where_keys_hardly_recur() -> None:
    seen = Observation.unshed(rates=(500, 500), windows=(1000, 1000))
    costs = [MODEL.value_index(seen, n_values) for n_values in (10, 1000, 100_000)]
    assert costs == sorted(costs) and costs[2] > 1.2 * costs[0]
    with_matches = Observation.unshed(seen.rates, seen.windows, matches=(5, 10))
    assert MODEL.value_index(with_matches, 100) > MODEL.value_index(seen, 100)


def test_an_index_of_values_by_hand() -> None:
    weights = replace(KANG_WEIGHTS, value_index=ValueIndexWeight(arrival=2, new_value=3, match=5))
    seen = Observation(rates=(10, 20), probing=(1, 2), storing=(4, 8), windows=(30, 70), matches=(7, 11))
    by_hand = 30 * 2 + 12 * math.exp(-100 / 50) * 3 + (1 * 11 + 2 * 7) * 5
    assert CostModel(weights).value_index(seen, 50) == pytest.approx(by_hand)


def test_weights_without_an_index_of_values_are_refused() -> None:
    with pytest.raises(CostError, match="calibrate again"):
        CostModel(KANG_WEIGHTS).value_index(Observation.unshed((1, 1), (1, 1)), 1)


def test_costs_grow_with_the_rates() -> None:
    slow, fast = (Observation.unshed((rate, rate), (100, 100)) for rate in (10, 1000))
    assert math.isclose(100 * MODEL.value_index(slow, 50), MODEL.value_index(fast, 50))


# What is shed


def test_what_is_shed_is_no_load_but_for_the_loop() -> None:
    """KN-38."""
    model = CostModel(replace(KANG_WEIGHTS, loop=1e-3))
    seen = Observation(rates=(100, 200), probing=(10, 20), storing=(3, 5), windows=(50, 60))
    left_probes, right_probes = model.directions("TN", seen)
    loops = [1e-3 * rate for rate in seen.rates]
    assert left_probes == pytest.approx(loops[0] + 10 * 60 * 3e-4 + 2 * 5 * 1e-4)
    assert right_probes == pytest.approx(loops[1] + 20 * 7 * 2.6e-4 + 2 * 3 * 7 * 2.7e-4)


def test_a_window_that_nobody_may_probe_needs_no_tree() -> None:
    rates, windows = (500.0, 500.0), (5000.0, 5000.0)
    weigh = chooser("band", REFERENCE_WEIGHTS)
    assert "N" not in "".join(weigh(Observation.unshed(rates, windows), ("N", "N")))
    shed = Observation(rates, probing=(500, 0), storing=rates, windows=windows)
    left, right = weigh(shed, ("T", "T"))
    assert left == "N" and right in "BT"


def _numbers(n: int, seed: int, **options: Any) -> pt.TableStream:
    """A stream without a key, in ten batches of a second."""
    rng = np.random.default_rng(seed)
    batches = [
        pa.table({"x": rng.integers(0, 10**6, n), "ts": second * 10**6 + np.arange(n) * (10**6 // n)})
        for second in range(10)
    ]
    return declare(batches, key=None, time="ts", window="5 seconds", **options)


def costs_of(joined: pt.Join) -> list[tuple[str, float]]:
    """What was weighed, the cheapest first."""
    others = joined.plan().fact("other candidates")
    assert others is not None
    return sorted(others.data["cpu_s_per_minute"].items(), key=lambda each: each[1])


def test_a_join_that_sheds_chooses_by_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """KN-38: where no right tuple may probe, nobody searches the left window, so it needs no order."""
    monkeypatch.setattr("punctuated.plan.optimizer.machine_weights", lambda: REFERENCE_WEIGHTS)
    left, right = _numbers(1000, 1, name="one"), _numbers(1000, 2, name="two")
    where = pt.band("x", -5, 5)
    plain = pt.join(left, right, where=where)
    shedding = pt.join(left, right, where=where, shed=pt.shed(rate=1000, strategy="max-left"))
    assert shedding.kept["probed_left"] > 0.9 and shedding.kept["probed_right"] < 0.1
    last, last_shed = plain.structures[-1], shedding.structures[-1]
    assert last is not None and last_shed is not None
    assert set(last) <= set("BT")
    assert last_shed[0] == "N" and last_shed[1] in "BT"
    assert costs_of(shedding)[0][0] == "".join(last_shed)


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
    joined = pt.join(left, right)
    names = [name for name, _ in costs_of(joined)]
    assert names[0] == "index of values" and sorted(names[1:]) == sorted(map("".join, product("NHBT", repeat=2)))
    (line,) = [line for line in joined.explain().splitlines() if "other candidates:" in line]
    assert line.split(": ")[1].startswith(names[1])
