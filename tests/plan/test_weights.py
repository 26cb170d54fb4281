"""Weights on disk: they come back as they were saved, and a bad file is named."""

import json
import math
from pathlib import Path

import pytest

from punctuated.errors import CostError
from punctuated.plan import cost

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
