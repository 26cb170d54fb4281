"""Weights: what the model makes of them; they come back from disk as they were saved, and a bad file is named."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.errors import CacheWarning, CostError
from punctuated.plan import cost
from punctuated.plan.cost.weights import REFERENCE_WEIGHTS, machine_weights
from punctuated.storage import private_folder
from storage.test_private_folder import without_home

OURS = cost.Weights(
    N=cost.Weight(P=1e-7, I=2e-7),
    H=cost.Weight(P=3e-7, I=4e-7),
    B=cost.Weight(P=5e-7, I=6e-7),
    T=cost.Weight(P=7e-7, I=8e-7),
)


@pytest.fixture
def settings_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


def test_the_papers_weights() -> None:
    """KN-17."""
    found = {structure: (cost.KANG_WEIGHTS.of(structure).P, cost.KANG_WEIGHTS.of(structure).I) for structure in "NHBT"}
    assert found == {"N": (3e-4, 1e-4), "H": (5.5e-4, 7.8e-4), "B": (2.6e-4, 2.6e-4), "T": (2.6e-4, 2.7e-4)}


def test_weights_change_costs() -> None:
    costs = [
        cost.unit_time_cost("NN", windows=(100, 100), rates=(1, 1), weights=each) for each in (cost.KANG_WEIGHTS, OURS)
    ]
    assert costs == pytest.approx([2 * (100 * 3e-4 + 2e-4), 2 * (100 * 1e-7 + 4e-7)])


def test_saved_weights_come_back(settings_folder: Path) -> None:
    assert cost.calibrated_weights() is None
    assert cost.save_weights(OURS) == settings_folder / "punctuated" / "weights.json"
    assert cost.load_weights() == OURS
    assert cost.calibrated_weights() == OURS


def test_weights_come_back_from_a_path_of_ones_own(settings_folder: Path) -> None:
    path = settings_folder / "folder" / "of mine.json"
    assert cost.load_weights(cost.save_weights(OURS, str(path))) == OURS
    assert cost.calibrated_weights() is None


@pytest.mark.parametrize("given", [None, "", "relative/folder"])
def test_without_a_folder_of_settings_the_usual_one_is_taken(
    given: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", given)
    assert cost.weights_path() == tmp_path / ".config" / "punctuated" / "weights.json"


def changed(**entries: object) -> str:
    good = {structure: {"P": 1e-4, "I": 1e-4} for structure in "NHBT"}
    return json.dumps(good | entries)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ("[1, 2]", "needs the keys N, H, B, T"),
        ("{}", "needs the keys N, H, B, T"),
        (changed(X=1), "needs the keys N, H, B, T"),
        (changed(H=3), "H needs the keys P, I"),
        (changed(H={"P": 1}), "H needs the keys P, I"),
        (changed(H={"P": 1, "I": "fast"}), "I='fast'"),
        (changed(H={"P": -1, "I": 1}), "P=-1"),
        (changed(H={"P": math.nan, "I": 1}), "P=nan"),
        ("\udcff", "is not JSON"),
    ],
)
def test_a_malformed_file_is_named(content: str, words: str, settings_folder: Path) -> None:
    path = cost.weights_path()
    path.parent.mkdir()
    path.write_bytes(content.encode(errors="surrogateescape"))
    for read in (cost.load_weights, cost.calibrated_weights):
        with pytest.raises(CostError) as refusal:
            read()
        assert words in str(refusal.value)
        assert str(path) in str(refusal.value)


def test_a_missing_file_is_named(settings_folder: Path) -> None:
    with pytest.raises(CostError, match=r"no weights in .*weights\.json"):
        cost.load_weights()


def test_a_path_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CostError, match="cannot write weights to"):
        cost.save_weights(OURS, tmp_path / "file" / "weights.json")
    with pytest.raises(CostError, match="cannot read weights from"):
        cost.load_weights(tmp_path)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_weight_is_above_zero(value: float) -> None:
    with pytest.raises(CostError, match="above 0"):
        cost.Weight(P=value, I=1)
    with pytest.raises(CostError, match="above 0"):
        cost.Weight(P=1, I=value)


def test_unknown_structures_have_no_weights() -> None:
    with pytest.raises(CostError, match="no structure is called 'of'"):
        cost.KANG_WEIGHTS.of("of")


# The model with what the paper does not have

PLAIN = cost.Weight(P=1e-6, I=2e-6)
FULL = replace(PLAIN, search=1e-5, update=1e-4, match=1e-3, doubling=1e-2)


def weights_of(weight: cost.Weight, **more: float) -> cost.Weights:
    return cost.Weights(weight, weight, weight, weight, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("structure", "NHBT")
def test_fixed_costs_come_on_top(structure: str) -> None:
    plain, full = weights_of(PLAIN), weights_of(FULL)
    without, beyond, with_matches = (
        cost.one_way_cost(structure, probe_rate=3, update_rate=5, window=1000, weights=each, matches=matches)
        for each, matches in ((plain, 0), (full, 0), (full, 7))
    )
    assert beyond - without == pytest.approx(3 * (1e-5 + 1e-2 * math.log2(1000)) + 5 * 2 * 1e-4)
    assert with_matches - beyond == pytest.approx(3 * 7 * 1e-3)


def test_a_match_without_a_cost_of_its_own_is_a_tuple_touched_in_a_tree() -> None:
    plain = weights_of(PLAIN)
    added = {each: cost.probe_cost(each, 1000, weights=plain, matches=7) for each in "NHBT"}
    added = {each: found - cost.probe_cost(each, 1000, weights=plain) for each, found in added.items()}
    assert added == pytest.approx({"N": 0, "H": 0, "B": 7e-6, "T": 7e-6})


def test_the_loop_costs_each_tuple_once() -> None:
    with_loop = weights_of(PLAIN, loop=1e-3)
    costs = [
        cost.unit_time_cost("TN", windows=(10, 20), rates=(3, 5), weights=each)
        for each in (weights_of(PLAIN), with_loop)
    ]
    assert costs[1] - costs[0] == pytest.approx(8e-3)


def test_ranges_have_weights_of_their_own() -> None:
    dear = weights_of(replace(PLAIN, P=1.0))
    weights = replace(weights_of(PLAIN), by_range=dear)
    assert weights.serving("=") is weights and weights.serving("band") is weights.serving("<") is dear
    assert cost.KANG_WEIGHTS.serving("band") is cost.KANG_WEIGHTS
    cheapest = [
        cost.candidates(windows=(10, 10), rates=(1, 1), predicate=each, weights=weights)[0].cost
        for each in ("=", "band")
    ]
    assert cheapest[1] > 1 > cheapest[0]


def test_everything_is_saved(settings_folder: Path) -> None:
    weights = replace(
        weights_of(FULL, loop=1e-3),
        ceilings=False,
        by_range=weights_of(PLAIN),
        value_index=cost.ValueIndexWeight(1e-6, 0, 3e-7),
    )
    assert cost.load_weights(cost.save_weights(weights)) == weights
    content = cost.weights_content(cost.KANG_WEIGHTS)
    assert content.keys() == set("NHBT") and content["B"] == {"P": 2.6e-4, "I": 2.6e-4}


costs = st.floats(0, 1e3)
above_zero = st.floats(1e-12, 1e3)
weight = st.builds(
    cost.Weight,
    P=above_zero,
    I=above_zero,
    search=costs,
    update=costs,
    match=st.none() | st.just(0.0) | costs,
    doubling=costs,
)
weights_found = st.builds(
    cost.Weights,
    weight,
    weight,
    weight,
    weight,
    loop=costs,
    ceilings=st.booleans(),
    value_index=st.none() | st.builds(cost.ValueIndexWeight, above_zero, costs, costs),
)


@given(weights_found, st.none() | weights_found)
def test_whatever_was_measured_comes_back_equal(found: cost.Weights, by_range: cost.Weights | None) -> None:
    """A match that costs nothing is not one whose cost is unknown."""
    weights = replace(found, by_range=by_range)
    with TemporaryDirectory() as folder:
        assert cost.load_weights(cost.save_weights(weights, f"{folder}/weights.json")) == weights


def test_numbers_of_any_kind_come_back_equal(tmp_path: Path) -> None:
    odd = cost.Weight(P=np.float32(0.1), I=Fraction(1, 3), search=np.int64(2), update=True, match=np.float64(0))  # type: ignore[arg-type]
    weights = replace(weights_of(odd, loop=np.float32(0.2)), value_index=cost.ValueIndexWeight(1, np.int8(2), 0))  # type: ignore[arg-type]
    assert cost.load_weights(cost.save_weights(weights, tmp_path / "weights.json")) == weights


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"loop": -1}, "loop=-1"),
        ({"ceilings": 3}, "ceilings=3"),
        ({"by_range": {}}, "by_range needs the keys N, H, B, T"),
        ({"H": {"P": 1, "I": 1, "search": "dear"}}, "search='dear'"),
        ({"H": {"P": 1, "I": 1, "match": -2}}, "match=-2"),
        ({"value_index": {"arrival": 1}}, "value_index needs the keys arrival, new_value, match, and no others)"),
        ({"value_index": {"arrival": 0, "new_value": 1, "match": 1}}, "arrival=0"),
    ],
)
def test_a_malformed_addition_is_named(more: dict[str, object], words: str, settings_folder: Path) -> None:
    path = cost.save_weights(cost.KANG_WEIGHTS)
    path.write_text(json.dumps(cost.weights_content(cost.KANG_WEIGHTS) | more))
    with pytest.raises(CostError, match="does not hold weights") as refusal:
        cost.load_weights()
    assert words in str(refusal.value)


# Where weights come from


def test_weights_that_others_could_have_put_there_are_not_used(
    settings_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_folder, "_done_without", set())
    path = cost.save_weights(OURS)
    path.parent.chmod(0o777)
    with pytest.warns(CacheWarning, match="weights of this machine, if there are any, are not used: .* by others"):
        assert cost.calibrated_weights() is None
    assert cost.load_weights(path) == OURS  # who names a file means it
    with pytest.raises(CostError, match="can be written by others"):
        cost.save_weights(OURS)


def test_without_a_home_there_are_no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    without_home(monkeypatch)
    assert cost.calibrated_weights() is None
    with pytest.raises(CostError, match="no home folder; set XDG_CONFIG_HOME, or give a path"):
        cost.save_weights(OURS)


def test_machine_weights_are_the_saved_ones_or_else_the_reference(settings_folder: Path) -> None:
    assert machine_weights() == REFERENCE_WEIGHTS
    cost.save_weights(REFERENCE_WEIGHTS)
    assert machine_weights() == REFERENCE_WEIGHTS
    cost.save_weights(replace(OURS, value_index=cost.ValueIndexWeight(1, 2, 3)))
    assert machine_weights().value_index == cost.ValueIndexWeight(1, 2, 3)


def test_the_reference_fills_in_what_an_older_file_does_not_have(settings_folder: Path) -> None:
    cost.save_weights(OURS)
    assert "value_index" not in cost.weights_path().read_text()
    assert machine_weights() == replace(OURS, value_index=REFERENCE_WEIGHTS.value_index)


def test_the_reference_prefers_what_was_measured_to_be_best() -> None:
    assert cost.best(windows=(5000, 5000), rates=(500, 500), weights=REFERENCE_WEIGHTS) == "HH"
    assert cost.best(windows=(5000, 5000), rates=(1, 999), weights=REFERENCE_WEIGHTS) == "HN"
    assert set(cost.best(windows=(5000, 5000), rates=(500, 500), predicate="band", weights=REFERENCE_WEIGHTS)) <= set(
        "BT"
    )
    assert cost.best(windows=(5000, 5000), rates=(1, 999), predicate="band", weights=REFERENCE_WEIGHTS)[1] == "N"
