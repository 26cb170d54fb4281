"""Choosing an algorithm and its propagation rule."""

import pytest

from punctuated.errors import AlgorithmError
from punctuated.model.algorithm import ALGORITHMS, PWJOIN, Propagation, choose_algorithm


def test_known_names() -> None:
    assert choose_algorithm("auto") is PWJOIN
    assert all(choose_algorithm(name) is algorithm for name, algorithm in ALGORITHMS.items())


def test_propagation_rules() -> None:
    assert choose_algorithm("pwjoin", "regular").propagation is Propagation.REGULAR
    assert choose_algorithm("pjoin", "own-state").propagation is Propagation.OWN_STATE
    assert choose_algorithm("wjoin", "none").propagation is Propagation.NONE


def test_errors_list_what_is_known() -> None:
    with pytest.raises(AlgorithmError, match="unknown algorithm 'hash'; known: auto, pwjoin, wjoin, pjoin, shj"):
        choose_algorithm("hash")
    with pytest.raises(AlgorithmError, match="'wjoin' has no propagation rule 'early'; it has: none"):
        choose_algorithm("wjoin", "early")
