"""The oracle of a union: every accepted tuple comes out, and a value is over when all streams have ended it."""

from punctuated.testing.reference_state import Accepted, Key, OutputPunctuation, Stream
from punctuated.testing.reference_streams import StreamsReference


class UnionReference(StreamsReference):
    """Punctuated streams with the same columns, or one of them, batch by batch. Nothing is ever stored."""

    def _join(self, ours: Stream, new: Accepted) -> None:
        self.out.results.append((new.row,))
        self.out.result_ts.append(new.ts)

    def _advance(self, ours: Stream, before: float) -> None:
        """No tuple waits for a watermark."""

    def _deadlines(self) -> list[float]:
        return []

    def _purge_for(self, ours: Stream, key: Key) -> None:
        """No tuple waits for an ending."""

    def _purge_everywhere(self, key: Key) -> None:
        """Nothing is left of a value."""

    def _purge_after_end_of(self, ours: Stream) -> None:
        """No tuple waits for the end."""

    def _may_be_punctuated(self, key: Key, ended_by: Stream | None = None) -> None:
        if key not in self.values or self.values[key].punctuated:
            return
        rule = self._regular(key)
        if rule is not None:
            self._mark_punctuated(key)
            self.out.punctuations.append(OutputPunctuation(key, *rule))
