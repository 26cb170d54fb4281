"""Errors and warnings that say what to change.

Every error a user can cause is a `PunctuatedError`; its message names the offending value and the remedy. A warning
points at the line of the user's code that caused it: see `warn_caller`.
"""

import os
import sys
import warnings
from pathlib import Path
from types import FrameType


class PunctuatedError(Exception):
    """Base of all errors raised on purpose by this package."""


class ColumnError(PunctuatedError, ValueError):
    """A column is missing, has the wrong type, or clashes with another one."""


class WindowError(PunctuatedError, ValueError):
    """A window or duration is malformed or negative."""


class PatternError(PunctuatedError, ValueError):
    """A punctuation's text is malformed; the message carries the position."""


class AlgorithmError(PunctuatedError, ValueError):
    """An unknown algorithm or join type; the message lists the known ones."""


class StreamError(PunctuatedError, ValueError):
    """A stream is declared in a way that cannot work."""


class SinkError(StreamError):
    """A join cannot write its output to this table with these options."""


class PromiseBroken(PunctuatedError):
    """A tuple came after its value had been punctuated, and the stream says `on_violation="fail"`."""


class SnapshotError(PunctuatedError, ValueError):
    """A saved state belongs to another query or another format."""


class MemoryBudgetError(PunctuatedError, MemoryError):
    """The state of a join has outgrown the memory that it was given."""


class ScratchError(PunctuatedError, OSError):
    """A join cannot write to its scratch folder, or a scratch file has changed since it was written."""


class FileError(PunctuatedError, OSError):
    """A file of a stream is missing or damaged, or its columns are not those of the stream."""


class SessionError(PunctuatedError, RuntimeError):
    """A Spark session lacks settings, or its workers lack this package. The message says what to set."""


class PredicateError(PunctuatedError, ValueError):
    """An extra predicate cannot be evaluated."""


class AggregateError(PunctuatedError, ValueError):
    """A grouping or an aggregate names a column that the results do not have, or one of the wrong type."""


class ShedError(PunctuatedError, ValueError):
    """The limits given to `pt.shed` cannot work together."""


class CostError(PunctuatedError, ValueError):
    """A cost model, an allocation or a sizing was given numbers that it cannot work with."""


class ExplainError(PunctuatedError, ValueError):
    """A plan was asked for in an unknown format, or of something that has no plan."""


class UnboundedStateWarning(UserWarning):
    """Nothing bounds the state of one side of the join."""


class RejectedRowsWarning(UserWarning):
    """Rows of a stream did not take part in a join over tables."""


class LateGroupsWarning(UserWarning):
    """No punctuation can finish these groups: they come out only when the streams end."""


class UnusedPunctuationsWarning(UserWarning):
    """A stream says when values of its own key are over, but a query joins it by another key."""


class MissingColumnsWarning(UserWarning):
    """A column was given for files that do not have it: its values are null."""


class CacheWarning(UserWarning):
    """A folder of caches or settings cannot be used. Everything works without it, but slower or with other defaults."""


# Warnings point at the user's line

_PACKAGE = f"{Path(__file__).parent}{os.sep}"
_BETWEEN = {"concurrent", "contextlib", "functools", "importlib", "numba", "py4j", "pyarrow", "pyspark", "threading"}


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn of the nearest line that does not belong to this package, nor to a library through which it was called."""
    here = sys._getframe(1)
    frame: FrameType | None = here
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    found = frame or here  # without any user code, as on the command line
    module, registry = found.f_globals.get("__name__"), found.f_globals.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, found.f_code.co_filename, found.f_lineno, module, registry)


def _is_between(frame: FrameType) -> bool:
    """Whether code stands between the user's and the warning; a doctest of this package is like a user's code."""
    root = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return frame.f_code.co_filename.startswith(_PACKAGE) or root in _BETWEEN or root.startswith("_frozen_importlib")
