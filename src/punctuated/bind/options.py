"""Options by name and type: what `pt.stream` takes beside the data, and `pt.join` beside its streams."""

from collections.abc import Sequence
from typing import TypedDict

from punctuated.bind.sources import Source
from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.model.policy import Policy
from punctuated.model.shed import Shed
from punctuated.model.window import Duration, Window


class StreamOptions(TypedDict, total=False):
    """The options of `pt.stream`, which passes all of them on as one object; see there for what each means."""

    key: str | Sequence[str] | None
    time: str | None
    name: str | None
    window: Window | Duration
    punctuations: Source | None
    lateness: Duration
    max_ahead: Duration | None
    on_violation: str
    order: str | None
    idle_after: Duration | None
    where: Expression | None
    select: Select | None


class JoinOptions(TypedDict, total=False):
    """See `pt.join` for what each means."""

    how: str
    algorithm: str
    where: Expression | None
    propagation: str | None
    purge_threshold: int
    max_punctuations: int
    bucket_memory: int | str | None
    memory: int | str | None
    policy: Policy | None
    select: Select | None
    shed: Shed | None
    node_size: int
    bucket_size: int


class UnionOptions(TypedDict, total=False):
    """See `pt.only` and `pt.union` for what each means."""

    max_punctuations: int
    bucket_memory: int | str | None
    select: Select | None
