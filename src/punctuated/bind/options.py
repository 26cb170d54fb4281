"""The options of a join, by name and type: what `pt.join` takes beside its streams."""

from collections.abc import Sequence
from typing import TypedDict

from punctuated.model.predicate import Expression
from punctuated.model.shed import Shed


class JoinOptions(TypedDict, total=False):
    """See `pt.join` for what each means."""

    how: str
    algorithm: str
    where: Expression | None
    propagation: str | None
    purge_threshold: int
    max_punctuations: int
    bucket_memory: int | str | None
    select: Sequence[str] | None
    shed: Shed | None
    node_size: int
    bucket_size: int
