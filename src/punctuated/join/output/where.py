"""An extra predicate on results, evaluated column-wise. Null counts as false, as in SQL."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.expressions.evaluate import which_hold
from punctuated.model.predicate import Expression


class WherePredicate:
    """Decides which results of a batch count."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def __call__(self, *tables: pa.Table) -> npt.NDArray[np.bool_]:
        """One truth value per result; each table has the rows of one stream."""
        return which_hold(self._expression, tables)
