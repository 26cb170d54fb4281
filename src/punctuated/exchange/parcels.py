"""Parcels: the objects of a batch that belong to one bucket, as bytes, and many parcels as one batch again."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from punctuated.arrow.ipc import Bundle, from_ipc, from_json, pack_bundle, to_ipc, to_json, unpack_bundle
from punctuated.arrow.whole_numbers import narrowed, widened
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.punctuation import Punctuation

_IN_BAND, _ANNOUNCED, _OF_ROWS = "in band", "announced", "of rows"  # kinds of endings


def write_parcels(batches: Sequence[StreamBatch], batch_us: int | None = None, n_rows: int = 0) -> Iterator[bytes]:
    """The parcels of all buckets, one after the other; what is the same for all buckets is written once.

    `batch_us` is the engine's time of the batch, `n_rows` the number of rows that the stream has brought.
    """
    types = batches[0].rows.schema.types
    patterns = [[p.ts, print_patterns(p.patterns, types), p.in_band] for p in batches[0].punctuations]
    shared = {"punctuations": patterns, "batch_us": batch_us, "n_rows": n_rows}
    common: Bundle = {name: to_json(value) for name, value in shared.items()}
    if batches[0].tick is not None:
        common["tick"] = to_ipc(batches[0].tick)
    for batch in batches:
        bundle = dict(common)
        if len(batch.rows):
            bundle |= _written(batch.rows)
        for number, endings in enumerate(batch.endings):
            bundle[f"{_kind(endings)}.{number}"] = to_ipc(endings.keys.append_column("\0ts", endings.ts))
        yield pack_bundle(bundle)


def batch_time(written: Iterable[bytes]) -> int | None:
    """The engine's time of the batch, if any parcel carries it."""
    times = [from_json(unpack_bundle(data)["batch_us"]) for data in written]
    return max((time for time in times if time is not None), default=None)


def rows_brought(written: Iterable[bytes]) -> int:
    """The number of rows that the streams have brought, for all buckets."""
    return sum(from_json(unpack_bundle(data)["n_rows"]) for data in written)


def read_parcels(schema: pa.Schema, written: Iterable[bytes]) -> StreamBatch:
    """The batch in all parcels of a bucket."""
    ticks, endings, punctuations = [], [], []
    types = schema.types
    bundles = [unpack_bundle(data) for data in written]
    for bundle in bundles:
        if "tick" in bundle:
            ticks.append(from_ipc(bundle["tick"]))
        for ts, text, in_band in from_json(bundle["punctuations"]):
            punctuations.append(Punctuation(ts, parse_punctuation(text, types), in_band))
        endings += [_endings(from_ipc(data), name) for name, data in bundle.items() if "." in name]
    tick = pa.concat_tables(ticks) if ticks else None
    return StreamBatch(_read(schema, bundles), tuple(endings), tuple(punctuations), tick=tick)


def _written(rows: pa.Table) -> Bundle:
    """Rows by column: narrow columns by their indices, and the others as a table."""
    found = {f"numbers {index}": narrowed(column) for index, column in enumerate(rows.columns)}
    numbers: Bundle = {name: data for name, data in found.items() if data is not None}
    others = [index for index in range(rows.num_columns) if f"numbers {index}" not in numbers]
    return {"n_here": to_json(len(rows)), "others": to_ipc(rows.select(others)), **numbers}


def _read(schema: pa.Schema, bundles: Sequence[Bundle]) -> pa.Table:
    """The rows of several parcels, in one table."""
    filled = [bundle for bundle in bundles if "n_here" in bundle]
    counts, others = [from_json(bundle["n_here"]) for bundle in filled], [from_ipc(each["others"]) for each in filled]
    columns = []
    for index, field in enumerate(schema):
        name = f"numbers {index}"
        both = zip(filled, others, strict=True)
        pieces = [bundle[name] if name in bundle else rest[field.name] for bundle, rest in both]
        columns.append(widened(list(zip(counts, pieces, strict=True)), field.type))
    return pa.table(columns, schema=schema)


def _kind(endings: EndedKeys) -> str:
    if endings.of_rows:
        return _OF_ROWS
    return _IN_BAND if endings.in_band else _ANNOUNCED


def _endings(table: pa.Table, name: str) -> EndedKeys:
    kind = name.partition(".")[0]
    return EndedKeys(table.drop_columns(["\0ts"]), table["\0ts"], kind != _ANNOUNCED, kind == _OF_ROWS)
