"""`memory=`: what it may be, and which joins take it."""

from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt

A = pa.table({"k": [1, 2], "ts": [0, 1]})


def streams(**options: Any) -> list[Any]:
    given: dict[str, Any] = {"key": "k", "time": "ts", "window": 10, **options}
    return [pt.stream(A, name=name, **given) for name in "ABC"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (0, "give one tuple or more"),
        (-1, "give one tuple or more"),
        (1.5, "give a number of tuples, or a text"),
        (True, "give a number of tuples, or a text"),
        ("much", "memory='much'"),
        ("1 KiB", "give at least 64.0 KiB"),
    ],
)
def test_bad_sizes_say_what_to_give(given: Any, said: str) -> None:
    a, b, _ = streams()
    with pytest.raises(pt.AlgorithmError, match=said):
        pt.join(a, b, memory=given)


@pytest.mark.parametrize(
    ("options", "join", "said"),
    [
        ({"key": None}, {"where": pt.band("k", -1, 1)}, "memory= is for joins with a key"),
        ({}, {"algorithm": "HH"}, "looks through whole windows"),
        ({}, {"algorithm": "nlw"}, "looks through whole windows"),
        ({}, {"shed": pt.shed(tuples=10)}, "give only one of them"),
        ({"window": pt.rows(3)}, {}, "always holds 3 tuples"),
    ],
)
def test_joins_that_cannot_say_why(options: dict[str, Any], join: dict[str, Any], said: str) -> None:
    a, b, _ = streams(**options)
    with pytest.raises(pt.AlgorithmError, match=said):
        pt.join(a, b, memory=10, **join)


def test_the_plan_says_where_the_rest_goes() -> None:
    a, b, c = streams()
    for joined in (pt.join(a, b, memory=10), pt.join(a, b, c, memory=10)):
        assert "memory: 10 tuples; beyond that, values that were not touched for long wait on disk" in joined.explain()
    assert "memory: 1.0 MiB" in pt.join(a, b, memory="1 MiB").explain()


def test_a_path_and_windows_of_each_key_take_it() -> None:
    a, b, _ = streams(window=pt.rows(3, per="key"))
    assert pt.join(a, b, memory=1).results.num_rows == 2
    assert pt.path(*streams(window=None), within=5, memory=1).results.num_rows == 2
