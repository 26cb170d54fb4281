"""Weights on disk, as JSON: what comes back equals what was saved."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from punctuated.errors import CostError
from punctuated.plan.cost.inputs import STRUCTURES
from punctuated.plan.cost.weights import ValueIndexWeight, Weight, Weights
from punctuated.private_folder import do_without, private_folder, user_folder


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
    """What differs from its default. A match that was measured to cost nothing is not one whose cost is unknown."""
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
