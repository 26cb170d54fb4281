"""A grouping of a join's results, as data."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from punctuated.errors import LateGroupsWarning
from punctuated.join.output.group_by import check_grouping
from punctuated.join.output.views import late_groups
from punctuated.model.aggregate import Aggregate
from punctuated.model.spec import JoinSpec


@dataclass(frozen=True)
class Grouping:
    """By which columns of the results, and what of each group is asked for."""

    by: tuple[str, ...]
    aggregates: Mapping[str, Aggregate]

    @property
    def is_ordered(self) -> bool:
        """Whether the times of results matter."""
        return any(each.is_ordered for each in self.aggregates.values())


def bind_grouping(
    spec: JoinSpec, results: pa.Schema, by: tuple[str, ...], aggregates: Mapping[str, Aggregate]
) -> Grouping:
    """Check a grouping of these results; warns if nothing can finish its groups before the end."""
    check_grouping(results, by, aggregates, sheds=spec.shed is not None)
    late = late_groups(spec, by)
    if late is not None:
        warnings.warn(late, LateGroupsWarning, stacklevel=4)
    return Grouping(by, aggregates)
