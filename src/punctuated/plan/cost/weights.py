"""Weights: what it costs to touch one tuple in a structure, as measured by the paper or on this machine (KN-17, KN-18).

Unit: seconds of CPU per 60 seconds of input, for one tuple touched per second; a join that costs 60 needs one core for
itself (XD-23).
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from punctuated.errors import CostError
from punctuated.plan.cost.inputs import STRUCTURES, amount, check_structure, positive

_NEEDED = ("P", "I")


@dataclass(frozen=True)
class Weight:
    """Costs of touching one tuple of a structure: `P` in a search, `I` in an update (P_d and I_d of Table 1).

    The others are not in the paper, whose formulas they leave as they are: what a search and an update cost whatever
    they touch, what each match adds to a search (None: in a tree it is one more tuple touched, elsewhere nothing), and
    what each doubling of the window adds to it.
    """

    P: float
    I: float  # noqa: E741  the paper's symbol
    search: float = 0.0
    update: float = 0.0
    match: float | None = None
    doubling: float = 0.0

    def __post_init__(self) -> None:
        positive(self.P, "P")
        positive(self.I, "I")
        amount(self.search, "search")
        amount(self.update, "update")
        amount(self.doubling, "doubling")
        if self.match is not None:
            amount(self.match, "match")


@dataclass(frozen=True)
class Weights:
    """The weights of all structures, by their letters.

    Not in the paper: `loop` is what a tuple costs in the join around the structures; `ceilings` says whether the
    formulas of the trees round up, as the paper's do; and `by_range` are the weights for other predicates than
    equality, where they differ.

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

    def __post_init__(self) -> None:
        amount(self.loop, "loop")
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


def weights_path() -> Path:
    """Where the weights of this machine are kept: `punctuated/weights.json` in the user's folder of settings."""
    given = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    # The XDG rules: a folder that is not absolute counts as not given.
    folder = given if given.is_absolute() else Path.home() / ".config"
    return folder / "punctuated" / "weights.json"


def save_weights(weights: Weights, path: str | Path | None = None) -> Path:
    """Write weights as JSON, by default to `weights_path()`; returns the file.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     load_weights(save_weights(KANG_WEIGHTS, f"{folder}/weights.json")) == KANG_WEIGHTS
        True
    """
    file = weights_path() if path is None else Path(path)
    content = weights_content(weights)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise CostError(f"cannot write weights to {file}: {error.strerror or error}") from error
    return file


def weights_content(weights: Weights) -> dict[str, Any]:
    """Weights as JSON has them; what the paper does not have is there only if it counts.

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
    return content


def _filled(weight: Weight) -> dict[str, float]:
    return {name: value for name, value in asdict(weight).items() if name in _NEEDED or value not in (0, None)}


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
    """The weights saved for this machine, or `None` if there are none."""
    return load_weights() if weights_path().exists() else None


def _parsed(content: Any, name: str = "the file") -> Weights:
    entries = _object(content, tuple(STRUCTURES), ("loop", "ceilings", "by_range"), name)
    by_range = entries.get("by_range")
    return Weights(
        **{structure: _weight(entries[structure], structure) for structure in STRUCTURES},
        loop=entries.get("loop", 0.0),
        ceilings=entries.get("ceilings", True),
        by_range=None if by_range is None else _parsed(by_range, "by_range"),
    )


def _weight(content: Any, name: str) -> Weight:
    optional = tuple(field.name for field in fields(Weight) if field.name not in _NEEDED)
    return Weight(**_object(content, _NEEDED, optional, name))


def _object(content: Any, needed: tuple[str, ...], optional: tuple[str, ...], name: str) -> Mapping[str, Any]:
    if not isinstance(content, dict) or not set(needed) <= content.keys() <= {*needed, *optional}:
        raise CostError(f"{name} needs the keys {', '.join(needed)}, and no others but {', '.join(optional)}")
    return content
