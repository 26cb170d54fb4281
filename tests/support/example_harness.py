"""What the tests of examples share: data that may be missing, cuts into batches, and states by the rule of removal."""

from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest

from real_data import MissingData

Loaded = TypeVar("Loaded")
Times = npt.NDArray[np.int64]


def load_or_skip(load: Callable[[], Loaded]) -> Loaded:
    try:
        return load()
    except MissingData as missing:
        pytest.skip(str(missing))


@cache
def printed(script: str, *arguments: str) -> str:
    """What an example prints."""
    main, out = import_module(script).main, StringIO()
    with redirect_stdout(out):
        load_or_skip(lambda: main(arguments) if arguments else main())
    return out.getvalue()


def cut(table: pa.Table, n_batches: int, random: np.random.Generator) -> list[pa.Table]:
    """So many batches, cut anywhere, empty ones among them."""
    edges = [0, *sorted(random.integers(0, table.num_rows + 1, n_batches - 1).tolist()), table.num_rows]
    return [table.slice(start, stop - start) for start, stop in pairwise(edges)]


def cut_all(tables: Mapping[str, pa.Table], n_batches: int) -> dict[str, list[pa.Table]]:
    """Each stream at places of its own: from batch to batch, any of them may be ahead."""
    random = np.random.default_rng(n_batches)
    return {name: cut(table, n_batches, random) for name, table in tables.items()}


def rows(frame: pd.DataFrame) -> list[tuple[object, ...]]:
    return sorted(frame.itertuples(index=False, name=None))


def microseconds(column: pa.ChunkedArray) -> Times:
    moments: Times = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64()).to_numpy()
    return moments


def clock(streams: list[Times], samples: Times) -> list[Times]:
    """How far each stream of one batch is before each sample: at the latest time of all, or at its own end."""
    times = np.sort(np.concatenate(streams))
    now = times[np.maximum(np.searchsorted(times, samples), 1) - 1]
    return [np.minimum(now, each[-1]) for each in streams]


def stored_by_reach(streams: list[Times], reach: Times, samples: Times) -> list[int]:
    """How many tuples are stored before each sample: those that some other stream is not beyond (WJ-14, XD-18)."""
    newest, total = clock(streams, samples), np.zeros(samples.size, np.int64)
    for i, times in enumerate(streams):
        oldest = np.min([newest[j] - reach[i, j] for j in range(len(streams)) if j != i], axis=0)
        total += np.searchsorted(times, samples) - np.searchsorted(times, oldest)
    counts: list[int] = total.tolist()
    return counts
