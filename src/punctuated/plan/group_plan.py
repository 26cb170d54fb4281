"""Groups of a join as a node of the plan: what they hold, and what finishes them."""

from collections.abc import Sequence

from punctuated.join.output.grouping import Grouping, contains_key
from punctuated.plan.tree import Fact, Kind, PlanNode


def plan_groups(joined: PlanNode, key: Sequence[str], grouping: Grouping, runs: Sequence[Fact] = ()) -> PlanNode:
    """The plan of groups over the plan of their join, whose results have this key; `runs` says where they are made."""
    calls = [f"{name} = {each.function}({each.column or ''})" for name, each in grouping.aggregates.items()]
    computed = (Fact("aggregates", ", ".join(calls)),) if calls else ()
    punctuates = joined.punctuates and contains_key(grouping.by, key)
    when = _ended(joined, key, punctuates)
    facts = (*computed, *(_distinct if grouping.is_distinct else _final)(when, punctuates), *runs)
    kind = "distinct" if grouping.is_distinct else "groups by"
    return PlanNode(Kind.GROUPS, f"{kind} {', '.join(grouping.by)}", facts, (joined,), punctuates=punctuates)


def _final(when: str, is_ended: bool) -> tuple[Fact, Fact]:
    """What finishes a group, and what is kept until then."""
    final = Fact("final", when, {"before_the_end": is_ended}, is_flow=True)
    return final, Fact("state", "one row for each group that is not final")


def _distinct(when: str, is_ended: bool) -> tuple[Fact, Fact]:
    """When a combination comes out, and how long it is remembered."""
    first = Fact("out", "each combination when it first appears")
    return first, Fact("state", f"one row for each combination; forgotten {when}", {"before_the_end": is_ended})


def _ended(joined: PlanNode, key: Sequence[str], is_ended: bool) -> str:
    if is_ended:
        return f"when its key ({', '.join(key)}) is over in the output of the join"
    streams = {1: "the stream has", 2: "both streams have"}.get(len(joined.children), "all streams have")
    return f"only when {streams} ended"
