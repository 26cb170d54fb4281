"""What the structures of an asymmetric window join are given of each tuple: a group and an interval (KN-05, KN-06).

Two tuples match if their groups are equal and their intervals overlap. The group is the key's code, one for all if
there is no key; the interval comes from comparisons between one column of each side.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.errors import AlgorithmError
from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.where import WherePredicate
from punctuated.join.tactics.range_predicate import HIGHEST, LOWEST, RangePredicate, split_predicate
from punctuated.model.algorithm import STRUCTURES
from punctuated.model.predicate import Expression
from punctuated.model.side import Side
from punctuated.model.spec import JoinSpec
from punctuated.model.window import CountWindow

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Pairing:
    """How tuples become groups and intervals."""

    spec: JoinSpec
    codec: KeyCodec
    ranged: RangePredicate | None

    def keys(self, side: Side, rows: pa.Table) -> tuple[Ints, Ints, Ints, Mask]:
        """Groups, lower and upper ends, and which keys are not null. An interval that is empty matches nothing."""
        key = self.spec.streams[side].key
        if key:
            group, valid = self.codec.encode([rows[name] for name in key])
        else:
            group, valid = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        if self.ranged is None:
            point = np.zeros(len(rows), np.int64)
            return group, point, point, valid
        low, high, matches = self.ranged.intervals(side, rows)
        return group, np.where(matches, low, HIGHEST), np.where(matches, high, LOWEST), valid


def served_predicate(
    spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]
) -> tuple[RangePredicate | None, WherePredicate | None]:
    """What of an extra predicate the windows' structures serve, and what is left to decide on pairs."""
    ranged, rest = split_predicate(where, schemas) if spec.algorithm.structures is not None else (None, where)
    return ranged, None if rest is None else WherePredicate(rest)


def check_structures(spec: JoinSpec, ranged: RangePredicate | None) -> None:
    """Raise if the structures of the algorithm cannot serve the join."""
    structures = spec.algorithm.structures
    if structures is None:
        if not spec.left.key:
            raise AlgorithmError(
                f"algorithm={spec.algorithm.name!r} needs a key; without one use 'auto' or a pair of structures "
                "such as 'TT', 'BN' or 'NN'"
            )
        return
    for stream in spec.streams:
        if stream.punctuated and stream.key:
            raise AlgorithmError(
                f"algorithm={spec.algorithm.name!r} joins by windows alone, and stream {stream.name!r} is punctuated; "
                "use 'auto' or 'pwjoin', or leave out punctuations="
            )
        if isinstance(stream.window, CountWindow) and stream.window.per_key:
            raise AlgorithmError(
                f"algorithm={spec.algorithm.name!r} has no windows per key, as stream {stream.name!r} has; use 'auto'"
            )
    for letter in structures:
        _check_structure(letter, has_key=bool(spec.left.key), has_range=ranged is not None)


def _check_structure(letter: str, has_key: bool, has_range: bool) -> None:
    if letter == "H" and not has_key:
        raise AlgorithmError("structure H (hash buckets) serves equal keys only; without a key use T, B or N")
    if letter in "BT" and not has_key and not has_range:
        raise AlgorithmError(
            f"structure {letter} ({STRUCTURES[letter]}) needs a key, or in where= a comparison between one number or "
            "time of each side, such as pt.band(…); for any other predicate use N"
        )
