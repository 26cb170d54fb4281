"""Why a row does not take part in a join: all reasons, in one enumeration.

Everything else follows from it: the codes that kernels write, the counters and their exports, the warnings, the
`reason` column of rejected rows. Codes and names are part of checkpoints: a new reason gets the next code.
"""

from enum import StrEnum


class Rejection(StrEnum):
    """A reason, as the `reason` column and the names of counters spell it."""

    code: int  # in the kernels' records, and the index of its counts
    advice: str  # for warnings: what happened to the rows, and what admits them

    def __new__(cls, name: str, code: int, advice: str) -> "Rejection":
        self = str.__new__(cls, name)
        self._value_, self.code, self.advice = name, code, advice
        return self

    LATE = "late", 0, "they came behind their stream's watermark or after its end; a larger lateness= waits for them"
    AHEAD = "ahead", 1, "they are too far ahead of their stream's newest time; a larger max_ahead= admits them"
    PROMISE = (
        "promise",
        2,
        "a punctuation of their own stream had ended them; on_violation='accept' joins them with what is left",
    )
    AFTER_OUTPUT = "after_output", 3, "their key was over in the output already"
    CORRUPT = "corrupt", 4, "each says what is wrong with it"

    @property
    def counter(self) -> str:
        """The counter of rows that were rejected for this reason; every stream has one."""
        return f"rejected_{self.value}"

    def describe(self, stream: str, n_rows: int, remedy: str) -> str:
        """A warning about rows of a stream; `remedy` says how to see them.

        >>> Rejection.AFTER_OUTPUT.describe("B", 4000, "see …")
        "stream 'B': 4,000 rows rejected as after_output, in no result: their key was over in the output already; see …"
        """
        rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
        return f"stream {stream!r}: {rows} rejected as {self.value}, in no result: {self.advice}; {remedy}"


BY_CODE = tuple(sorted(Rejection, key=lambda reason: reason.code))
