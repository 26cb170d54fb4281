"""What bounds a state: the proofs, the warning and the words say the same."""

import warnings
from itertools import product
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.errors import UnboundedStateWarning
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.plan.bounds import Proof, is_unbounded, state_bound

TABLE = pa.table({"k": [1, 2], "ts": [0, 1], "last": [True, True]})
WINDOWS = {"none": None, "time": "1 second", "count": pt.rows(3)}


def joined(left: dict[str, Any], right: dict[str, Any], algorithm: str = "auto") -> Any:
    streams = [pt.stream(TABLE, name=name, key="k", time="ts", **how) for name, how in (("A", left), ("B", right))]
    return pt.join(*streams, algorithm=algorithm)


def quietly(*args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnboundedStateWarning)
        return joined(*args)


@pytest.mark.parametrize(
    ("algorithm", "window", "punctuated", "proofs"),
    [
        ("pwjoin", "time", True, {Proof.WINDOW, Proof.PUNCTUATIONS}),
        ("pwjoin", "none", True, {Proof.PUNCTUATIONS}),
        ("pwjoin", "time", False, {Proof.WINDOW}),
        ("pwjoin", "count", False, {Proof.COUNT_WINDOW}),
        ("pwjoin", "none", False, set()),
        ("pjoin", "time", True, {Proof.PUNCTUATIONS}),
        ("pjoin", "time", False, set()),
        ("wjoin", "time", True, {Proof.WINDOW}),
        ("wjoin", "none", True, set()),
    ],
)
def test_proofs(algorithm: str, window: str, punctuated: bool, proofs: set[Proof]) -> None:
    other = {"punctuations": pt.when("last")} if punctuated else {}
    spec = quietly({"window": WINDOWS[window]}, other, algorithm).spec
    found = state_bound(spec, LEFT)
    assert set(found.proofs) == proofs and found.prover == "B"
    assert found.is_missing == is_unbounded(spec, LEFT) == (not proofs)


@pytest.mark.parametrize(
    ("window", "punctuated", "algorithm"), list(product(WINDOWS, (False, True), ("pwjoin", "pjoin", "wjoin")))
)
def test_the_warning_the_words_and_the_proofs_agree(window: str, punctuated: bool, algorithm: str) -> None:
    other = {"window": "1 second", "punctuations": pt.when("last") if punctuated else None}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        join = joined({"window": WINDOWS[window]}, other, algorithm)
    warned = [str(each.message) for each in heard if issubclass(each.category, UnboundedStateWarning)]
    states = [node.fact("state") for node in join.plan().children]
    for side in Side:
        missing = state_bound(join.spec, side).is_missing
        assert any(f"remembers of {'AB'[side]!r}" in words for words in warned) == missing
        state = states[side]
        assert state is not None and state.text.startswith("unbounded until") == missing
        assert state.data["bounded"] != missing


def test_a_stream_called_unbounded_is_not() -> None:
    named = pt.stream(TABLE, name="unbounded", key="k", time="ts", window="1 second")
    spec = pt.join(named, pt.stream(TABLE, name="B", key="k", time="ts", window="1 second")).spec
    assert not is_unbounded(spec, LEFT) and not is_unbounded(spec, RIGHT)


@pytest.mark.parametrize(
    ("window", "punctuations", "leaves"),
    [
        (None, pt.unique(), True),
        (None, pt.when("last"), True),
        (None, pt.endings(TABLE, key="k", time="ts"), False),
        (None, pt.unique() | pt.endings(TABLE, key="k", time="ts"), False),
        ("1 second", pt.unique(), False),
    ],
)
def test_keys_that_never_come_in_the_other_stream(window: str | None, punctuations: Any, leaves: bool) -> None:
    """What a stream says of the keys that it brings does not bound the others."""
    join = quietly({"window": window}, {"punctuations": punctuations})
    assert state_bound(join.spec, LEFT).keeps_unmatched == leaves
    assert ("keys that never come in B stay until it ends" in join.explain()) == leaves


def test_rare_tuples_have_a_rate_that_can_be_read_and_nothing_is_said_of_what_cannot_come() -> None:
    hour = 3_600_000_000
    streams = [
        pt.stream(
            pa.table({"k": [1, 2, 3], "ts": [0, 12 * hour, 24 * hour]}), name=name, key="k", time="ts", window="1 day"
        )
        for name in "AB"
    ]
    told = pt.join(*streams).explain()
    assert "3 tuples at 3.0/day" in told
    assert "output punctuations: none, since no stream brings any" in told
