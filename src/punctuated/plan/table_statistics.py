"""The statistics of streams that lie before us as tables: every tuple and every ending can be looked at."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.intake.prepare import key_columns, window_ends
from punctuated.keys.codec import KeyCodec, key_codec
from punctuated.model.batch import StreamBatch
from punctuated.model.punctuation import Punctuation, PunctuationKind, classify, named_values
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.times import to_microseconds
from punctuated.model.window import UntilWindow
from punctuated.plan.cost.waits import FOR_THE_WINDOW, Waits
from punctuated.plan.statistics import StreamStatistics

Ints = npt.NDArray[np.int64]
Dated = tuple[Ints, Ints]  # codes and times


def table_statistics(
    spec: JoinSpec, batches: Sequence[Sequence[StreamBatch]], key_types: Sequence[pa.DataType]
) -> tuple[StreamStatistics, ...]:
    """What is known of all streams, from all their batches."""
    codec = key_codec(key_types)
    streams = [_Stream.read(spec.streams[side], [each[side] for each in batches], codec) for side in spec.sides]
    return tuple(ours.statistics([other for other in streams if other is not ours]) for ours in streams)


@dataclass(frozen=True)
class _Stream:
    """All tuples of a stream, and the values that it ends one by one."""

    spec: StreamSpec
    tuples: Dated
    ends: Dated
    n_tuples: int
    n_punctuations: int
    seconds: float
    own_window_s: float | None
    row_bytes: float

    @staticmethod
    def read(spec: StreamSpec, batches: Sequence[StreamBatch], codec: KeyCodec) -> "_Stream":
        rows = pa.concat_tables([batch.rows for batch in batches])
        ts = to_microseconds(rows[spec.time], spec.time)
        seconds = float(ts.max() - ts.min()) / 1e6 if ts.size else 0.0
        own_window_s = _own_window_s(spec, rows, ts, seconds)
        row_bytes = rows.nbytes / len(rows) if len(rows) else 0.0
        if not spec.key:
            nothing = np.empty(0, np.int64), np.empty(0, np.int64)
            return _Stream(spec, nothing, nothing, len(rows), 0, seconds, own_window_s, row_bytes)
        codes, valid = codec.encode([rows[name] for name in spec.key])
        tuples = codes[valid], ts[valid]
        endings = [*_declared(spec, batches, codec), *_derived(spec, rows, tuples, valid)]
        n_others = sum(
            _kind(spec, each) is not PunctuationKind.VALUES for batch in batches for each in batch.punctuations
        )
        ends = _joined(endings)
        return _Stream(spec, tuples, ends, len(rows), ends[0].size + n_others, seconds, own_window_s, row_bytes)

    def statistics(self, others: Sequence["_Stream"]) -> StreamStatistics:
        return StreamStatistics(
            tuples=self.n_tuples,
            seconds=self.seconds,
            distinct_values=np.unique(self.tuples[0]).size,
            punctuations=self.n_punctuations,
            waits=self._waits(others),
            own_window_s=self.own_window_s,
            row_bytes=self.row_bytes,
        )

    def _waits(self, others: Sequence["_Stream"]) -> Waits:
        """How long our tuples wait until all other streams have ended their values."""
        n = self.tuples[0].size
        if not n or not all(other.ends[0].size for other in others):
            return FOR_THE_WINDOW
        known, waits = np.ones(n, np.bool_), np.full(n, np.iinfo(np.int64).min)
        for other in others:
            does_end, for_it = self._waits_for(other)
            known, waits = known & does_end, np.maximum(waits, for_it)
        kept = waits[known & (waits > 0)]
        mean_s = float(kept.mean()) / 1e6 if kept.size else 0.0
        return Waits(mean_s, ended=kept.size / n, over=(int(known.sum()) - kept.size) / n)

    def _waits_for(self, other: "_Stream") -> tuple[npt.NDArray[np.bool_], Ints]:
        """Of which of our tuples another stream ends the values, and when: once its own watermark is there."""
        (codes, ts), (ended, at) = self.tuples, _first_of_each(other.ends)
        place = np.minimum(np.searchsorted(ended, codes), ended.size - 1)
        return ended[place] == codes, at[place] + other.spec.lateness_us - ts


def _own_window_s(spec: StreamSpec, rows: pa.Table, ts: Ints, seconds: float) -> float | None:
    """Mean length of windows that tuples have for themselves; one without an end is as long as the stream."""
    if not isinstance(spec.window, UntilWindow) or not ts.size:
        return None
    lengths = np.maximum(window_ends(spec, rows, ts) - ts, 0) / 1e6
    return float(np.minimum(lengths, seconds).mean())


def _kind(spec: StreamSpec, punctuation: Punctuation) -> PunctuationKind:
    return classify(punctuation.patterns, spec.columns, spec.key, spec.time)


def _declared(spec: StreamSpec, batches: Sequence[StreamBatch], codec: KeyCodec) -> list[Dated]:
    """What endings and rows with patterns say of single values."""
    found = []
    for batch in batches:
        for endings in batch.endings:
            codes, valid = codec.encode(endings.keys.columns)
            found.append((codes[valid], endings.ts.to_numpy()[valid]))
        for punctuation in batch.punctuations:
            if _kind(spec, punctuation) is PunctuationKind.VALUES:
                values = named_values(punctuation.patterns, spec.columns, spec.key)
                codes, _ = codec.encode(key_columns(values, codec.types))
                found.append((codes, np.full(codes.size, punctuation.ts, np.int64)))
    return found


def _derived(spec: StreamSpec, rows: pa.Table, tuples: Dated, valid: npt.NDArray[np.bool_]) -> list[Dated]:
    """What flags and declared constraints say."""
    found = []
    if spec.flag is not None:
        flagged = np.asarray(pc.fill_null(rows[spec.flag], False)).astype(np.bool_)[valid]
        found.append((tuples[0][flagged], tuples[1][flagged]))
    if spec.unique:
        found.append(tuples)
    if spec.clustered:  # a value ends with the tuple that follows its last one, which is close to it
        codes, times = tuples
        ended, last = _first_of_each((codes, -times))
        found.append((ended, -last))
    return found


def _joined(parts: Sequence[Dated]) -> Dated:
    nothing = np.empty(0, np.int64)
    codes, times = zip(*[(nothing, nothing), *parts], strict=True)
    return np.concatenate(codes), np.concatenate(times)


def _first_of_each(dated: Dated) -> Dated:
    """Every code once, ascending, with its first time."""
    codes, times = dated
    order = np.lexsort((times, codes))
    found, first = np.unique(codes[order], return_index=True)
    return found, times[order][first]
