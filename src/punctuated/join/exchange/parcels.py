"""Shares: what falls to one bucket of a part of a batch, as bytes, and many shares as one batch again."""

import json
from collections.abc import Iterable, Sequence

import pyarrow as pa

from punctuated.join.exchange.bundle import from_ipc, pack_parts, to_ipc, unpack_parts
from punctuated.model.batch import Endings, StreamBatch
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.punctuation import Punctuation


def write_shares(shares: Sequence[StreamBatch], batch_us: int | None = None) -> list[bytes]:
    """The shares of all buckets as bytes; what is the same for all is written once.

    `batch_us` is the engine's time of the batch.
    """
    types = shares[0].rows.schema.types
    said = json.dumps([[p.ts, print_patterns(p.patterns, types), p.in_band] for p in shares[0].punctuations]).encode()
    common = {"said": said, "batch_us": json.dumps(batch_us).encode()}
    if shares[0].tick is not None:
        common["tick"] = to_ipc(shares[0].tick)
    written = []
    for share in shares:
        parts = dict(common)
        if len(share.rows):
            parts["rows"] = to_ipc(share.rows)
        for number, endings in enumerate(share.endings):
            name = f"{'in band' if endings.in_band else 'announced'}.{number}"
            parts[name] = to_ipc(endings.keys.append_column("\0ts", endings.ts))
        written.append(pack_parts(parts))
    return written


def batch_time(written: Iterable[bytes]) -> int | None:
    """The engine's time of the batch, if any share carries it."""
    times = [json.loads(unpack_parts(data)["batch_us"].to_pybytes()) for data in written]
    return max((time for time in times if time is not None), default=None)


def read_shares(schema: pa.Schema, written: Iterable[bytes]) -> StreamBatch:
    """All shares of a bucket together."""
    rows, ticks, endings, punctuations = [schema.empty_table()], [], [], []
    types = schema.types
    for parts in map(unpack_parts, written):
        if "rows" in parts:
            rows.append(from_ipc(parts["rows"]))
        if "tick" in parts:
            ticks.append(from_ipc(parts["tick"]))
        for ts, text, in_band in json.loads(parts["said"].to_pybytes()):
            punctuations.append(Punctuation(ts, parse_punctuation(text, types), in_band))
        endings += [_endings(from_ipc(data), name) for name, data in parts.items() if "." in name]
    tick = pa.concat_tables(ticks) if ticks else None
    return StreamBatch(pa.concat_tables(rows), tuple(endings), tuple(punctuations), tick)


def _endings(table: pa.Table, name: str) -> Endings:
    return Endings(table.drop_columns(["\0ts"]), table["\0ts"], in_band=name.startswith("in band"))
