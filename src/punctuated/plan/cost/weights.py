"""Weights: what it costs to touch one tuple in a structure, as measured by the paper or on this machine (KN-17, KN-18).

Unit: seconds of CPU per 60 seconds of input, for one tuple touched per second; a join that costs 60 needs one core for
itself (XD-23). `punctuated cost calibrate` measures the weights of a machine and saves them; weights that are loaded
equal those that were saved.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from punctuated.errors import CostError
from punctuated.plan.cost.inputs import STRUCTURES, amount, check_structure, positive
from punctuated.storage.private_folder import do_without, private_folder, user_folder


def _as_floats(weights: object, checked: Callable[[float, str], float], *names: str) -> None:
    """Check these fields and convert them to plain floats, the only numbers that JSON saves exactly."""
    for name in names:
        object.__setattr__(weights, name, checked(getattr(weights, name), name))


@dataclass(frozen=True)
class Weight:
    """Costs of touching one tuple of a structure: `P` in a search, `I` in an update (P_d and I_d of Table 1).

    The paper does not have the other costs, and its formulas do not change: `search` and `update` are fixed costs of
    each, `match` is what a match adds to a search (None: in a tree one more tuple touched, elsewhere nothing), and
    `doubling` is what each doubling of the window adds to it.
    """

    P: float
    I: float  # noqa: E741  the paper's symbol
    search: float = 0.0
    update: float = 0.0
    match: float | None = None
    doubling: float = 0.0

    def __post_init__(self) -> None:
        _as_floats(self, positive, "P", "I")
        _as_floats(self, amount, "search", "update", "doubling", *(() if self.match is None else ("match",)))


@dataclass(frozen=True)
class ValueIndexWeight:
    """Costs of the index of values that both windows share; the paper has no such index.

    `arrival` is the cost of a tuple, `new_value` what it costs more if its value is not there yet, and `match` what a
    match adds.
    """

    arrival: float
    new_value: float
    match: float

    def __post_init__(self) -> None:
        _as_floats(self, positive, "arrival")
        _as_floats(self, amount, "new_value", "match")


@dataclass(frozen=True)
class Weights:
    """The weights of all structures, by their letters.

    The other fields are not in the paper. `loop` is what a tuple costs in the join around the structures. `ceilings`
    says whether the formulas of the trees round up, as the paper's do. `by_range` has the weights for other predicates
    than equality, if they differ. `value_index` has those of the index of values, if they are known.

    Example:
        >>> KANG_WEIGHTS.of("H").P
        0.00055
    """

    N: Weight
    H: Weight
    B: Weight
    T: Weight
    loop: float = 0.0
    ceilings: bool = True
    by_range: "Weights | None" = None
    value_index: ValueIndexWeight | None = None

    def __post_init__(self) -> None:
        _as_floats(self, amount, "loop")
        if not isinstance(self.ceilings, bool):
            raise CostError(f"ceilings={self.ceilings!r}: give True or False")

    def of(self, structure: str) -> Weight:
        """The weights of one structure."""
        weight: Weight = getattr(self, check_structure(structure))
        return weight

    def serving(self, predicate: str) -> "Weights":
        """The weights for this predicate."""
        return self if predicate == "=" or self.by_range is None else self.by_range


# Eq. (7), measured with Java 1.4 on an Athlon XP at 1,533 MHz (KN-17, KN-20).
KANG_WEIGHTS = Weights(
    N=Weight(P=3e-4, I=1e-4),
    H=Weight(P=5.5e-4, I=7.8e-4),
    B=Weight(P=2.6e-4, I=2.6e-4),
    T=Weight(P=2.6e-4, I=2.7e-4),
)


# Weights on disk


def weights_path() -> Path:
    """Where the weights of this machine are kept: `punctuated/weights.json` in the user's folder of settings."""
    try:
        return user_folder("XDG_CONFIG_HOME", ".config") / "punctuated" / "weights.json"
    except OSError as error:
        raise CostError(f"no place for the weights of this machine: {error}, or give a path") from error


def save_weights(weights: Weights, path: str | Path | None = None) -> Path:
    """Write weights as JSON, by default to `weights_path()`; returns the file.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from punctuated.plan.cost import KANG_WEIGHTS
        >>> with TemporaryDirectory() as folder:
        ...     load_weights(save_weights(KANG_WEIGHTS, f"{folder}/weights.json")) == KANG_WEIGHTS
        True
    """
    file = weights_path() if path is None else Path(path)
    content = json.dumps(weights_content(weights), indent=2) + "\n"
    try:
        if path is None:
            private_folder(file.parent)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise CostError(f"cannot write weights to {file}: {error.strerror or error}") from error
    return file


def weights_content(weights: Weights) -> dict[str, Any]:
    """Weights as JSON. Fields that the paper does not have are there only if they have an effect.

    >>> from punctuated.plan.cost import KANG_WEIGHTS
    >>> weights_content(KANG_WEIGHTS)["N"]
    {'P': 0.0003, 'I': 0.0001}
    """
    content: dict[str, Any] = {name: _filled(weights.of(name)) for name in STRUCTURES}
    if weights.loop:
        content["loop"] = weights.loop
    if not weights.ceilings:
        content["ceilings"] = False
    if weights.by_range is not None:
        content["by_range"] = weights_content(weights.by_range)
    if weights.value_index is not None:
        content["value_index"] = asdict(weights.value_index)
    return content


def _filled(weight: Weight) -> dict[str, float]:
    """The fields that differ from their defaults; `match` = 0 (a match costs nothing) differs from None (unknown)."""
    values = {field.name: (getattr(weight, field.name), field.default) for field in fields(weight)}
    return {name: value for name, (value, default) in values.items() if value != default}


def load_weights(path: str | Path | None = None) -> Weights:
    """Read weights that `save_weights` has written, by default from `weights_path()`."""
    file = weights_path() if path is None else Path(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CostError(f"there are no weights in {file}: save some there, or use those of the paper") from error
    except OSError as error:
        raise CostError(f"cannot read weights from {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise CostError(f"{file} is not JSON ({error}): save the weights again") from error
    try:
        return _parsed(content)
    except CostError as error:
        raise CostError(f"{file} does not hold weights ({error}): save them again") from error


def calibrated_weights() -> Weights | None:
    """The weights saved for this machine; `None` if there are none, or if another user could have written them."""
    try:
        file = weights_path()
    except CostError:
        return None  # nobody can have saved any
    try:
        if not file.exists():
            return None
        private_folder(file.parent)
    except OSError as trouble:
        do_without("weights of this machine, if there are any, are not used", trouble)
        return None
    return load_weights()


def _parsed(content: Any, name: str = "the file") -> Weights:
    entries = _object(content, tuple(STRUCTURES), ("loop", "ceilings", "by_range", "value_index"), name)
    by_range, value_index = entries.get("by_range"), entries.get("value_index")
    return Weights(
        **{structure: _weight(entries[structure], structure) for structure in STRUCTURES},
        loop=entries.get("loop", 0.0),
        ceilings=entries.get("ceilings", True),
        by_range=None if by_range is None else _parsed(by_range, "by_range"),
        value_index=None if value_index is None else _value_index(value_index),
    )


def _weight(content: Any, name: str) -> Weight:
    needed, optional = (
        tuple(field.name for field in fields(Weight) if (field.default is MISSING) == is_needed)
        for is_needed in (True, False)
    )
    return Weight(**_object(content, needed, optional, name))


def _value_index(content: Any) -> ValueIndexWeight:
    needed = tuple(field.name for field in fields(ValueIndexWeight))
    return ValueIndexWeight(**_object(content, needed, (), "value_index"))


def _object(content: Any, needed: tuple[str, ...], optional: tuple[str, ...], name: str) -> Mapping[str, Any]:
    if not isinstance(content, dict) or not set(needed) <= content.keys() <= {*needed, *optional}:
        others = f" but {', '.join(optional)}" if optional else ""
        raise CostError(f"{name} needs the keys {', '.join(needed)}, and no others{others}")
    return content


# The weights that plans use: those saved for this machine (see `runtime.calibration`), or else those of the reference
# machine


# Measured on 15 November 2026 on one core of an AMD EPYC (Zen 4, 1 MiB of L2), with Python 3.11 and numba 0.68.1;
# medians of 5 calibrations.
REFERENCE_WEIGHTS = Weights(
    N=Weight(P=6.4e-09, I=5.4e-07, search=1.41e-07, match=4.9e-06),
    H=Weight(P=8.89e-08, I=7e-07, match=5.22e-07, doubling=7.18e-08),
    B=Weight(P=2.78e-07, I=4.02e-07, update=1.9e-06, match=5.71e-07),
    T=Weight(P=2.4e-07, I=4.47e-07, update=2.18e-06, match=5.55e-07),
    loop=1.58e-06,
    ceilings=False,
    by_range=Weights(
        N=Weight(P=1.4e-08, I=5.4e-07, match=1.05e-05),
        H=Weight(P=8.89e-08, I=7e-07, match=5.22e-07, doubling=7.18e-08),
        B=Weight(P=3.15e-07, I=4.36e-07, update=1.58e-06, match=5.16e-07),
        T=Weight(P=2.85e-07, I=4.58e-07, update=2.13e-06, match=5.21e-07),
        loop=1.58e-06,
        ceilings=False,
    ),
    value_index=ValueIndexWeight(arrival=2.7e-06, new_value=1.2e-06, match=1.8e-07),
)


def machine_weights() -> Weights:
    """The weights saved for this machine, or those of the reference machine where there are none."""
    saved = calibrated_weights()
    if saved is None:
        return REFERENCE_WEIGHTS
    return saved if saved.value_index is not None else replace(saved, value_index=REFERENCE_WEIGHTS.value_index)
