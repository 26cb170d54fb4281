"""What range endings bring in the output."""

from dataclasses import dataclass

from punctuated.model.pattern import Pattern


@dataclass(frozen=True)
class OutputRange:
    """A range punctuation for the output."""

    patterns: tuple[Pattern, ...]
    ts: int
