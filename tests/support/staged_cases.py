"""Random joins in stages, and what must hold of them whatever is on disk and whenever it is joined."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from driver_harness import new_driver, run
from punctuated.model.algorithm import SHJ, STAGED_XJOIN, Algorithm, choose_algorithm
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.spec import JoinSpec, JoinType, OnViolation
from punctuated.operator.driver import JoinDriver
from punctuated.testing.checks import DOMAIN, Observed, expected
from punctuated.testing.strategies import Batch, Case, cases

PJOINS = tuple(choose_algorithm("pjoin", rule) for rule in ("own-state", "regular", "none"))
Between = Callable[[JoinDriver], JoinDriver]


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Every mode of purge, index and propagation, and silences of every length."""
    purge = draw(st.sampled_from(["eager", "lazy"]))
    propagate = draw(st.sampled_from(["push", "push", "pull"]))
    by_time = propagate == "push" and draw(st.booleans())
    by_count = propagate == "push" and draw(st.booleans())
    return Policy(
        purge=purge,
        purge_threshold=draw(st.integers(1, 4)) if purge == "lazy" else None,
        index=draw(st.sampled_from(["eager", "lazy"])),
        propagate=propagate,
        propagate_after=draw(st.integers(1, 6)) if by_time else None,
        propagate_every=draw(st.integers(1, 4)) if by_count else None,
        disk_join_after=draw(st.sampled_from([None, 1, 2, 4])),
        relocate=draw(st.sampled_from(["largest", "smallest"])),
    )


@st.composite
def staged_cases(draw: st.DrawFn, algorithms: Sequence[Algorithm] = (*PJOINS, STAGED_XJOIN)) -> Case:
    """A join in stages of any two streams, with batches that bring nothing here and there."""
    case = draw(cases(types=[JoinType.INNER], algorithms=algorithms, policies=[OnViolation.REJECT]))
    streams = tuple(replace(stream, window=None) for stream in case.spec.streams)
    memory = Memory(tuples=draw(st.sampled_from([1, 2, 3, 6, 1000])))
    spec = replace(case.spec, streams=streams, memory=memory, policy=draw(policies()), purge_threshold=1)
    batches: list[Batch] = []
    for batch in case.batches:
        batches += [batch, ([], [])] if draw(st.booleans()) else [batch]
    return Case(spec, batches)


def in_memory(spec: JoinSpec) -> JoinSpec:
    """The same join without stages, as the oracle knows it."""
    algorithm = SHJ if spec.algorithm == STAGED_XJOIN else spec.algorithm
    return replace(spec, memory=None, policy=None, algorithm=algorithm)


def check_stages(case: Case, driver: JoinDriver | None = None, between: Between | None = None) -> list[Observed]:
    """All pairs by the end and each once, nothing after its punctuation, and every punctuation that is allowed."""
    spec = case.spec
    seen = run(spec, case.batches, driver or new_driver(spec), between)
    wanted = expected(in_memory(spec), case.batches)
    assert pairs(seen) == pairs(wanted)
    assert sum((each.rejected for each in seen), Counter[Any]()) == sum((e.rejected for e in wanted), Counter[Any]())
    check_order(seen)
    assert named(wanted) <= said(seen)
    assert seen[-1].stored == (0, 0)
    return seen


def pairs(seen: Sequence[Observed]) -> Counter[Any]:
    """All results, but for their times."""
    found: Counter[Any] = Counter()
    for each in seen:
        for (left, right, _), n in each.results.items():
            found[left, right] += n
    return found


def check_order(seen: Sequence[Observed]) -> None:
    """No value is said twice by name, and no result follows a punctuation that covers it."""
    over: set[Any] = set()
    by_name: Counter[Any] = Counter()
    for each in seen:
        late = {left[0] for left, _, _ in each.results} & over
        assert not late, f"results of {late} after a punctuation"
        over |= said([each])
        by_name.update(key for key, _, _, _ in each.punctuations.elements() if key is not None)
    assert not by_name or max(by_name.values()) == 1


def said(seen: Sequence[Observed]) -> set[Any]:
    """The values that the output was told of, by name or by a range."""
    found: set[Any] = set()
    for each in seen:
        for key, covered, _, _ in each.punctuations:
            found |= set(covered[0]) if key is None else {key[0]}
    return found


def named(seen: Sequence[Observed]) -> set[Any]:
    """Those that were named."""
    return {key[0] for each in seen for key, _, _, _ in each.punctuations if key is not None} & set(DOMAIN)
