"""Errors that say what to change.

Every error a user can cause is a `PunctuatedError`; its message names the offending value and the remedy.
"""


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
    """A table that a join is to write cannot be written, or not like that."""


class PromiseBroken(PunctuatedError):
    """A tuple came after its value had been punctuated, and the stream says `on_violation="fail"`."""


class SnapshotError(PunctuatedError, ValueError):
    """A saved state belongs to another query or another format."""


class MemoryBudgetError(PunctuatedError, MemoryError):
    """What a join must remember outgrows the memory that it was given."""


class ScratchError(PunctuatedError, OSError):
    """What a join has put on disk cannot be written, or is not what was written."""


class FileError(PunctuatedError, OSError):
    """A file of a stream is missing or damaged, or its columns are not those of the stream."""


class SessionError(PunctuatedError, RuntimeError):
    """A Spark session lacks settings, or its workers this package; the message has the lines to set."""


class PredicateError(PunctuatedError, ValueError):
    """An extra predicate cannot be evaluated."""


class AggregateError(PunctuatedError, ValueError):
    """A grouping or an aggregate asks for something that is not there."""


class ShedError(PunctuatedError, ValueError):
    """A join is told to shed in a way that cannot work."""


class CostError(PunctuatedError, ValueError):
    """A cost model, an allocation or a sizing was asked for something that it cannot answer."""


class UnboundedStateWarning(UserWarning):
    """Nothing bounds what a join must remember of one side."""


class RejectedRowsWarning(UserWarning):
    """Rows of a stream did not take part in a join over tables."""


class LateGroupsWarning(UserWarning):
    """Groups that nothing can finish before the end of the streams."""


class CacheWarning(UserWarning):
    """A folder of caches or settings cannot be used; everything works without it, but slower or with other defaults."""
