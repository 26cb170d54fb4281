"""Counts, sums and means, estimated with standard errors from the results of a join that sheds (KN-33).

The pair of a stored tuple i and a probing tuple j comes out iff the coins Z_i and W_j say so, which are independent and
have the shares q_i and p_j. (A tuple is an i in some pairs and a j in others; its two coins are independent as well.) A
sum of y over all pairs is estimated without bias by Horvitz and Thompson's

    T = Σ w_ij  over the pairs that came out,  w_ij = y_ij / (q_i p_j)

Two pairs come out together with probability π, which is the product of theirs unless they share a tuple; so they add
y y' (π / product - 1) to the variance, and that divided by π estimates it from the pairs that came out:

    they share only i, π = q_i p_j p_j':     (1 - q_i) w_ij w_ij'
    they share only j, π = q_i q_i' p_j:     (1 - p_j) w_ij w_i'j
    they are the same, π = q_i p_j:          (1 - q_i p_j) w_ij²

The square of a sum counts each pair with itself, too. As (1 - q p) - (1 - q) - (1 - p) = -(1 - q) (1 - p), all of it is

    Var(T) ≈ Σ_i (1 - q_i) (Σ_j w_ij)² + Σ_j (1 - p_j) (Σ_i w_ij)² - Σ_ij (1 - q_i) (1 - p_j) w_ij²

The covariance of two sums has products in place of squares. A mean is a ratio T_y / T_x, x being 1 where y is not null,
and its variance is that of Σ (y - mean x) / T_x, by linearisation.

All pairs of a j come in one batch, but those of an i do not. So plain sums are kept for each open group, and for each i
the sum of its w, until no j can meet i any more; where q_i = 1 that is not needed.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.model.aggregate import Aggregate, error_name
from punctuated.model.arguments import HIDDEN, free_names
from punctuated.model.spec import LEFT, RIGHT

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Sums = dict[str, Floats]

STORED, PROBING, P, Q, UNTIL = (HIDDEN + name for name in ("stored", "probing", "p", "q", "until"))
PAIR_SCHEMA = pa.schema(
    [
        (STORED, pa.int64()),  # ids of the two tuples, different for different tuples of either side
        (PROBING, pa.int64()),
        (P, pa.float64()),  # the share of tuples that probed when the probing tuple did
        (Q, pa.float64()),  # the share of tuples that were stored when the stored tuple was
        (UNTIL, pa.int64()),  # after this time, in microseconds, no tuple meets the stored one
    ]
)
_GROUP, _TUPLE, _SHARE, _UNTIL = "group", "tuple", "share", "_until"  # as they are saved
_MERGING = {_SHARE: "min", _UNTIL: "max"}  # equal for all pairs of a tuple; everything else is summed


def pair_columns(
    right_probes: Mask,
    ids: tuple[Ints, Ints],
    probe: tuple[float, float],
    store: tuple[Floats, Floats],
    until: tuple[Ints, Ints],
) -> list[pa.Array]:
    """The columns of `PAIR_SCHEMA` for pairs of a left and a right tuple.

    `probe` are the shares of the batch; `store` and `until` belong to each tuple, as if it were the stored one.
    """
    columns = (
        np.where(right_probes, ids[LEFT], ids[RIGHT]),
        np.where(right_probes, ids[RIGHT], ids[LEFT]),
        np.where(right_probes, probe[RIGHT], probe[LEFT]),
        np.where(right_probes, store[LEFT], store[RIGHT]),
        np.where(right_probes, until[LEFT], until[RIGHT]),
    )
    return [pa.array(column, field.type) for column, field in zip(columns, PAIR_SCHEMA, strict=True)]


class GroupEstimates:
    """Sums of open groups, numbered from 0: new groups come last, and when some go, the others move up."""

    def __init__(self, aggregates: Mapping[str, Aggregate], by: Sequence[str] = ()) -> None:
        """`by` are the names of the columns beside the estimates."""
        self._aggregates = dict(aggregates)
        self._error_names = free_names(map(error_name, aggregates), [*by, *aggregates])
        self._measures = _measures(aggregates)
        self._products = _products(aggregates)
        names = [*self._measures, *(_product(*each) for each in self._products)]
        self._sums: Sums = {name: np.zeros(0) for name in names}
        floats = [(name, pa.float64()) for name in (_SHARE, *self._measures)]
        schema = pa.schema([(_GROUP, pa.int64()), (_TUPLE, pa.int64()), (_UNTIL, pa.int64()), *floats])
        self._stored = schema.empty_table()

    def add(self, groups: Ints, n_groups: int, pairs: pa.Table) -> None:
        """Add pairs that came out, with the columns of `PAIR_SCHEMA`; all pairs of a probing tuple come at once."""
        for name, before in self._sums.items():
            self._sums[name] = np.concatenate([before, np.zeros(n_groups - before.size)])
        p, q = np.asarray(pairs[P]), np.asarray(pairs[Q])
        weighted = {name: _numbers(pairs, *each) / (q * p) for name, each in self._measures.items()}
        for name, values in weighted.items():
            self._sums[name] += np.bincount(groups, values, self._n_groups)
        self._add_products(groups, -(1 - q) * (1 - p), weighted)
        if (p < 1).any():
            probing = {_GROUP: groups, _TUPLE: pairs[PROBING], _SHARE: p, **weighted}
            self._add_tuples(_by_tuple(pa.table(probing)))
        if (q < 1).any():
            stored = {_GROUP: groups, _TUPLE: pairs[STORED], _UNTIL: pairs[UNTIL], _SHARE: q, **weighted}
            fresh = pa.table(stored, schema=self._stored.schema).filter(pa.array(q < 1))
            self._stored = _by_tuple(pa.concat_tables([self._stored, fresh]))

    def fold(self, watermark: int) -> None:
        """Add stored tuples to the sums that no tuple from the watermark on can meet."""
        self._close(np.asarray(self._stored[_UNTIL]) < watermark)

    def keep(self, kept: Mask) -> None:
        """Forget all groups but those that `kept` keeps."""
        self._sums = {name: values[kept] for name, values in self._sums.items()}
        groups = np.where(kept, np.cumsum(kept) - 1, -1)[self._stored_groups()]
        stored = self._stored.set_column(0, _GROUP, pa.array(groups))
        self._stored = stored.filter(pa.array(groups >= 0)).combine_chunks()

    def finish(self, final: Mask) -> dict[str, pa.Array]:
        """Estimates and standard errors of the groups that `final` keeps."""
        self._close(final[self._stored_groups()])
        sums = {name: values[final] for name, values in self._sums.items()}
        columns = {}
        for (name, each), error_of in zip(self._aggregates.items(), self._error_names, strict=True):
            estimate, variance, known = _estimate(each, sums)
            # Unbiased means that it can fall below zero, where values of both signs cancel out.
            error = np.sqrt(np.maximum(variance, 0.0))
            columns[name] = pa.array(estimate, mask=~known)
            columns[error_of] = pa.array(error, mask=~known)
        return columns

    def save(self) -> dict[str, pa.Table]:
        """Sums and stored tuples as tables by name."""
        return {"sums": pa.table(self._sums), "stored": self._stored}

    def load(self, saved: Mapping[str, pa.Table]) -> None:
        """Go on from what `save` gave."""
        self._sums = {name: np.array(saved["sums"][name]) for name in self._sums}
        self._stored = saved["stored"].select(self._stored.column_names)

    @property
    def n_stored(self) -> int:
        """How many stored tuples are remembered, once for each group that they are in."""
        return len(self._stored)

    @property
    def _n_groups(self) -> int:
        return len(next(iter(self._sums.values())))

    def _stored_groups(self) -> Ints:
        return np.asarray(self._stored[_GROUP], np.int64)

    def _close(self, done: Mask) -> None:
        if done.any():
            self._add_tuples(self._stored.filter(pa.array(done)))
            self._stored = self._stored.filter(pa.array(~done)).combine_chunks()

    def _add_tuples(self, tuples: pa.Table) -> None:
        """Add the squares of each tuple's sums."""
        sums = {name: np.asarray(tuples[name]) for name in self._measures}
        self._add_products(np.asarray(tuples[_GROUP]), 1 - np.asarray(tuples[_SHARE]), sums)

    def _add_products(self, groups: Ints, factor: Floats, sums: Sums) -> None:
        for one, two in self._products:
            terms = factor * sums[one] * sums[two]
            self._sums[_product(one, two)] += np.bincount(groups, terms, self._n_groups)


# What is summed


def _present(column: str | None) -> str:
    return "present" if column is None else f"present\0{column}"


def _value(column: str | None) -> str:
    return f"value\0{column}"


def _product(one: str, two: str) -> str:
    return f"{one}\0\0{two}"


def _measures(aggregates: Mapping[str, Aggregate]) -> dict[str, tuple[str | None, bool]]:
    """What is summed, by name: the column, and whether its values are summed or only counted."""
    measures: dict[str, tuple[str | None, bool]] = {}
    for each in aggregates.values():
        measures[_present(each.column)] = each.column, False
        if each.function != "count":
            measures[_value(each.column)] = each.column, True
    return measures


def _products(aggregates: Mapping[str, Aggregate]) -> Sequence[tuple[str, str]]:
    """The pairs of sums whose covariance the aggregates need."""
    products: dict[tuple[str, str], None] = {}
    for each in aggregates.values():
        present, value = _present(each.column), _value(each.column)
        if each.function != "sum":
            products[present, present] = None
        if each.function != "count":
            products[value, value] = None
        if each.function == "mean":
            products[value, present] = None
    return list(products)


def _numbers(pairs: pa.Table, column: str | None, is_value: bool) -> Floats:
    """The values of a column, with 0 for null; if only presence counts, 1 where it is not null."""
    if column is None:
        return np.ones(len(pairs))
    if not is_value:
        return np.asarray(pairs[column].is_valid(), np.float64)
    return np.asarray(pc.fill_null(pairs[column].cast(pa.float64(), safe=False), 0.0))


def _by_tuple(pairs: pa.Table) -> pa.Table:
    """One row per group and tuple."""
    calls = [(name, _MERGING.get(name, "sum")) for name in pairs.column_names if name not in (_GROUP, _TUPLE)]
    merged = pa.TableGroupBy(pairs, [_GROUP, _TUPLE], use_threads=False).aggregate(calls)
    return merged.rename_columns([_GROUP, _TUPLE, *(name for name, _ in calls)])


def _estimate(aggregate: Aggregate, sums: Sums) -> tuple[Floats, Floats, Mask]:
    """The estimates of an aggregate, their variances, and where there is anything to estimate from."""
    present, value = _present(aggregate.column), _value(aggregate.column)
    n = sums[present]
    if aggregate.function == "count":
        return n, sums[_product(present, present)], np.ones(n.size, np.bool_)
    if aggregate.function == "sum":
        return sums[value], sums[_product(value, value)], n > 0
    divisor = np.where(n > 0, n, 1.0)
    mean = sums[value] / divisor
    squares = sums[_product(value, value)] + mean**2 * sums[_product(present, present)]
    return mean, (squares - 2 * mean * sums[_product(value, present)]) / divisor**2, n > 0
