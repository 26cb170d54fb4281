"""Which structures can serve a join, and what of its extra predicate they serve (KN-05, KN-06)."""

from collections.abc import Sequence

import pyarrow as pa

from punctuated.errors import AlgorithmError
from punctuated.join.output.where import WherePredicate
from punctuated.join.tactics.range_predicate import RangePredicate, split_predicate
from punctuated.model.algorithm import STRUCTURES
from punctuated.model.predicate import Expression
from punctuated.model.spec import JoinSpec
from punctuated.model.window import CountWindow


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
