"""When a join says that a value is over in its output."""

from punctuated.model.algorithm import Propagation
from punctuated.model.spec import JoinSpec
from punctuated.plan.tree import Fact
from punctuated.plan.words import listed

_ALONE = {Propagation.EARLY: "its last tuple there is gone", Propagation.OWN_STATE: "none of it is stored there"}


def punctuates(spec: JoinSpec) -> bool:
    """Whether the output can say that a value is over before a stream ends."""
    return bool(_rules(spec))


def output_rule(spec: JoinSpec) -> Fact:
    """When values are over in the output, in words."""
    rules = _rules(spec)
    text = f"when {', or '.join(rules)}" if rules else _why_none(spec)
    return Fact("output punctuations", text, {"propagation": spec.algorithm.propagation.value}, is_flow=True)


def _rules(spec: JoinSpec) -> list[str]:
    """By all streams together (PW-08), or by one alone (PW-32, PJ-09)."""
    if spec.algorithm.propagation is Propagation.NONE:
        return []
    ending = [side for side in spec.sides if spec.streams[side].punctuated]
    alone = [side for side in ending if spec.may_end_early(side)]
    rules = []
    if len(ending) == len(spec.streams):
        rules.append(f"{_all_of(spec)} ended a value")
    if alone:
        names = listed([spec.streams[side].name for side in alone], "or")
        rules.append(f"{names} has ended {'it' if rules else 'a value'} and {_ALONE[spec.algorithm.propagation]}")
    return rules


def _why_none(spec: JoinSpec) -> str:
    bringing = [stream.name for stream in spec.streams if stream.punctuated]
    if not bringing:
        return "none, since no stream brings any"
    if spec.algorithm.propagation is Propagation.NONE:
        return "none"
    return f"none before a stream ends, since only {listed(bringing)} brings any, and {_all_would(spec)} have to"


def _all_of(spec: JoinSpec) -> str:
    return {1: "the stream has", 2: "both streams have"}.get(len(spec.streams), "all streams have")


def _all_would(spec: JoinSpec) -> str:
    return "both streams would" if len(spec.streams) == 2 else "all streams would"
