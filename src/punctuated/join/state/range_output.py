"""What range endings bring in the output, and how they are written."""

from dataclasses import dataclass

import pyarrow as pa

from punctuated.kernels.layout import BOTH
from punctuated.model.pattern import Pattern

TEXTS = pa.schema([("pattern", pa.string())])


@dataclass(frozen=True)
class OutputRange:
    """A range punctuation for the output."""

    patterns: tuple[Pattern, ...]
    ts: int
    reason: int = BOTH
