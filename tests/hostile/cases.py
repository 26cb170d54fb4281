"""A random join: tables, what is said of them, and how they are joined, some of it nonsense.

A case is its seed. Data are in the order of time and keep their promises, so that nested loops tell the results; where
an option is nonsense, or what it does is not for nested loops to tell, only foreign errors are looked for.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from hostile import brute_force
from hostile.values import KEY_TYPES, TIME_TYPES, TYPES, draw_pool, draw_values, encoded

NONSENSE: list[Any] = [None, True, -1, 0, 1.5, math.nan, 2**70, "", "x", "*", b"x", [], ["k"], [None], (), {}, {"k": 1}]
NONSENSE += [object(), int, timedelta(-1), timedelta.max, np.float64(2), pt.unique(), pt.count(), pa.table({}), 1 + 2j]
_NAMES = ["k", "key", "a b", "a.b", "", "é", "`", "select", "K", "0", "x'", '"', "%s", "{}", "_", "null"]
_SPANS: list[tuple[Any, brute_force.Window]] = [
    (None, None),
    (0, (0, 0)),
    (3, (0, 3)),
    (np.int16(7), (0, 7)),
    ("5 us", (0, 5)),
    (timedelta(microseconds=4), (0, 4)),
    ("1 day", (0, 86_400_000_000)),
    (2**60, (0, 2**60)),
    (pt.between(1, 4), (1, 4)),
    (pt.between(2, "1 h"), (2, 3_600_000_000)),
]
_COUNTS = [pt.rows(1), pt.rows(3), pt.rows(2, per="key"), pt.rows(2**60)]


@dataclass
class Side:
    """One input."""

    table: pa.Table
    options: dict[str, Any]
    window: brute_force.Window
    payload: list[str]
    is_known: bool  # whether nested loops tell what becomes of it
    until: str | None = None  # the column of ends, if rows have windows of their own

    def windows(self, ts: list[int]) -> list[brute_force.Window]:
        """Of each row."""
        if self.until is None:
            return brute_force.spans(self.window, ts)
        return brute_force.spans_until(ts, brute_force.microseconds(self.table[self.until]))


@dataclass
class Case:
    """Two inputs and how they are joined."""

    sides: list[Side]
    options: dict[str, Any] = field(default_factory=dict)
    where: Callable[[], Any] | None = None  # the predicate, which may be refused
    test: Callable[[int, int], bool] | None = None  # the same for row numbers
    is_known: bool = True

    def build(self) -> pt.Join:
        """May raise errors of ours."""
        left, right = (pt.stream(side.options["data"], **_without(side.options, "data")) for side in self.sides)
        where = {} if self.where is None else {"where": self.where()}
        joined: pt.Join = pt.join(left, right, **(where | self.options))
        return joined

    def expected(self) -> list[brute_force.Pair]:
        """Row numbers of the results, by nested loops."""
        sides = [
            (
                brute_force.keys(side.table, names_of(side.options["key"])),
                brute_force.microseconds(side.table[side.options["time"]]),
            )
            for side in self.sides
        ]
        windows = [side.windows(ts) for side, (_, ts) in zip(self.sides, sides, strict=True)]
        return brute_force.join(self.options.get("how", "inner"), sides, windows, self.test)


def _without(options: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in options.items() if key != name}


def names_of(key: Any) -> list[str]:
    """The names in what `key=` was given."""
    return [] if key is None else [key] if isinstance(key, str) else list(key)


@dataclass
class _Common:
    """What the sides of a case have in common, so that tuples meet."""

    key_types: list[pa.DataType]
    pools: list[list[Any]]
    time_type: pa.DataType
    first: int


def draw_case(seed: int) -> Case:
    """The case of a seed."""
    random = Random(seed)
    types = [random.choice(KEY_TYPES) for _ in range(random.choice([1, 1, 1, 1, 1, 2, 3, 0]))]
    time_type = random.choice(TIME_TYPES)
    pools = [draw_pool(random, dtype) for dtype in types]
    common = _Common(types, pools, time_type, _draw_first(random, time_type))
    case = Case([_draw_side(random, number, common) for number in (0, 1)])
    _draw_options(random, case, has_key=len(types) > 0)
    case.is_known = case.is_known and all(side.is_known for side in case.sides)
    return case


def _draw_side(random: Random, number: int, common: _Common) -> Side:
    n = random.choice([0, 1, 2, 5, 8, 12])
    names = random.sample(_NAMES, 8)
    keys = names[: len(common.key_types)]
    time, others = f"t{number}", names[len(keys) : len(keys) + random.choice([0, 1, 1, 2])]
    columns: dict[str, Any] = {}
    for name, dtype, pool in zip(keys, common.key_types, common.pools, strict=True):
        is_other = random.random() < 0.04
        columns[name] = (
            draw_values(random, random.choice(KEY_TYPES), n) if is_other else draw_values(random, dtype, n, pool)
        )
    is_other = random.random() < 0.05
    time_type = random.choice(TIME_TYPES) if is_other else common.time_type
    first = _draw_first(random, time_type) if is_other else common.first
    columns[time] = _draw_times(random, time_type, first, n)
    for name in others:
        columns[name] = draw_values(random, random.choice(TYPES), n)
    order = list(columns)
    random.shuffle(order)
    table = pa.table({name: columns[name] for name in order})
    table = table.append_column(f"id{number}", pa.array(range(n), pa.int64()))
    span, window = random.choice(_SPANS)
    options = {"key": _spelled(random, keys), "time": time, "name": f"s{number}", "window": span}
    side = Side(table, options, window, [*others, time, f"id{number}"], True)
    if random.random() < 0.05:
        side.options["window"], side.is_known = random.choice(_COUNTS), False
    elif random.random() < 0.15:
        _draw_until(random, side, columns[time])
    _draw_punctuations(random, side, keys)
    _draw_stream_options(random, side, others)
    side.options["data"] = _as_given(random, side.options.pop("with_patterns", side.table))
    return side


def _draw_until(random: Random, side: Side, times: pa.Array) -> None:
    """Ends around the rows' own times, none, or as far off as the type allows."""
    numbers = times.cast(pa.int64()).to_pylist()
    step = 1_000 if times.type == pa.timestamp("ns") else 1
    least, most = (0, 100) if pa.types.is_integer(times.type) and times.type.bit_width < 64 else (-(2**62), 2**62)
    least = 0 if times.type == pa.uint64() else least
    ends = [random.choice([None, least, most, *(at + step * after for after in (-2, 0, 0, 1, 4))]) for at in numbers]
    ends = [None if end is None else max(end, least) for end in ends]
    side.until = "until"
    side.table = side.table.append_column("until", pa.array(ends, pa.int64()).cast(times.type))
    side.payload.append("until")
    side.options["window"] = pt.until("until")


def _spelled(random: Random, keys: list[str]) -> Any:
    if not keys:
        return None
    return keys[0] if len(keys) == 1 and random.random() < 0.7 else random.choice([list, tuple])(keys)


def _draw_first(random: Random, dtype: pa.DataType) -> int:
    """Where times begin: mostly at 0, sometimes at the ends of what a time can be."""
    if pa.types.is_timestamp(dtype) and dtype.unit != "us":
        return random.choice([0, 0, -5])
    if pa.types.is_integer(dtype) and dtype.bit_width < 64:
        return random.choice([0, 3])
    first = random.choice([0, 0, 0, 0, -(10**6), 2**60 - 100, -(2**60), 100])
    return abs(first) if dtype == pa.uint64() else first


def _draw_times(random: Random, dtype: pa.DataType, first: int, n: int) -> pa.Array:
    """In order, close to each other."""
    steps = [random.choice([0, 1, 1, 2, 5]) for _ in range(n)]
    step = 1_000 if dtype == pa.timestamp("ns") else 1
    times = (first + np.cumsum([0, *steps])[:n]) * step
    return pa.array(times.tolist(), pa.int64()).cast(dtype)


def _draw_punctuations(random: Random, side: Side, keys: list[str]) -> None:
    """Promises that the data keep, and a few that mean nothing."""
    kind = random.choice(["none", "none", "none", "unique", "clustered", "when", "rows", "rows", "endings"])
    ids = [name for name in side.payload if name.startswith("id")]
    values = brute_force.keys(side.table, keys)
    if kind == "unique":
        first = {value: row for row, value in reversed(list(enumerate(values)))}
        _keep(side, [row for row, value in enumerate(values) if value is None or first[value] == row], ids[0])
        side.options["punctuations"] = pt.unique()
    elif kind == "clustered":
        _keep(
            side,
            [
                row
                for row in range(len(values))
                if values[row] is None or values[row] not in values[:row] or values[row] == values[row - 1]
            ],
            ids[0],
        )
        side.options["punctuations"] = pt.clustered()
        side.is_known = False  # tuples of one time come in another order
    elif kind == "when":
        last = {value: row for row, value in enumerate(values)}
        flags = [value is not None and last[value] == row and random.random() < 0.7 for row, value in enumerate(values)]
        side.table = side.table.append_column("last", pa.array(flags, pa.bool_()))
        side.payload.append("last")
        side.options["punctuations"] = pt.when("last")
    elif kind == "rows":
        _add_pattern_rows(random, side)
    elif kind == "endings" and keys:
        said = side.table.select([*keys, side.options["time"]])
        latest = max(brute_force.microseconds(said[side.options["time"]]), default=0)
        at = pa.array([latest] * len(said), pa.int64())
        said = said.set_column(len(keys), "at", at).slice(0, random.randint(0, len(said)))
        said = said.rename_columns([*(f"e{i}" for i in range(len(keys))), "at"])
        side.options["punctuations"] = pt.endings(_as_given(random, said), key=said.column_names[:-1], time="at")


def _keep(side: Side, rows: list[int], id_column: str) -> None:
    side.table = side.table.take(pa.array(rows, pa.int64()))
    place = side.table.schema.get_field_index(id_column)
    side.table = side.table.set_column(place, id_column, pa.array(range(len(rows)), pa.int64()))


_PATTERNS = ["*", "*", "*", "1", "0", "-1", "a", "[0,5]", "(,3]", "[2,)", "{1,2}", "{}", "1.5"]
_PATTERNS += ["nan", "1970-01-01", '""', '"a,b"', "true"]


def _add_pattern_rows(random: Random, side: Side) -> None:
    """At the end, where every promise is kept; the last time of the stream."""
    time, n = side.options["time"], len(side.table)
    texts: list[str | None] = [None] * n
    said = random.randint(0, 2) if n else 0
    for _ in range(said):
        patterns = [random.choice(_PATTERNS) if random.random() < 0.25 else "*" for _ in side.table.column_names]
        texts.append(random.choice([f"<{','.join(patterns)}>"] * 12 + ["", "<*>"]))
    rows = side.table.slice(n - 1, 1).take(pa.array([0] * said, pa.int64())) if said else side.table.slice(0, 0)
    for place, name in enumerate(side.table.column_names):
        if name != time and random.random() < 0.7:
            rows = rows.set_column(place, name, pa.nulls(said, rows.schema.field(name).type))
    with_rows = pa.concat_tables([side.table, rows]).append_column("said", pa.array(texts, pa.string()))
    side.options["punctuations"] = pt.rows_with("said")
    side.options["with_patterns"] = with_rows


def _as_given(random: Random, table: pa.Table) -> Any:
    """In one piece or several, in any encoding, of any library."""
    columns = [encoded(random, column.combine_chunks()) for column in table.columns]
    packed = pa.table(columns, names=table.column_names)
    how = random.choice(["table", "table", "batches", "list", "reader", "batch"])
    if how == "reader":
        return packed.to_reader()
    if how == "batch" and len(packed.to_batches()) == 1:
        return packed.to_batches()[0]
    if how in ("batches", "list"):
        cuts = sorted(random.randint(0, len(packed)) for _ in range(random.randint(0, 3)))
        edges = [0, *cuts, len(packed)]
        pieces = [packed.slice(start, stop - start) for start, stop in pairwise(edges)]
        return iter(pieces) if how == "list" else pieces
    return packed


def _draw_stream_options(random: Random, side: Side, others: list[str]) -> None:
    if random.random() < 0.2:
        side.options["lateness"] = random.choice([0, 1, "1 s", np.int64(3), timedelta(1)])
    if random.random() < 0.2:
        side.options["on_violation"] = random.choice(["reject", "accept"])
    if random.random() < 0.2 and others:
        side.options["order"] = others[0]
    if random.random() < 0.1:
        side.options["max_ahead"] = random.choice([10**12, "1000 days", 2**60])
    if random.random() < 0.06:
        name = random.choice(
            [
                "key",
                "time",
                "name",
                "window",
                "punctuations",
                "lateness",
                "max_ahead",
                "on_violation",
                "order",
                "idle_after",
            ]
        )
        side.options[name], side.is_known = random.choice(NONSENSE), False


def _draw_options(random: Random, case: Case, *, has_key: bool) -> None:
    options = case.options
    options["how"] = random.choice(["inner", "inner", "left", "right", "full", "semi", "anti"])
    if random.random() < 0.5:
        options["algorithm"] = random.choice(["auto", "pwjoin", "wjoin", "pjoin", "shj", "NN", "HH", "BT", "TN", "HB"])
    if random.random() < 0.3 or not has_key:
        _draw_where(random, case)
    if random.random() < 0.1:
        options["purge_threshold"] = random.choice([1, 2, 1000, np.int8(3)])
    if random.random() < 0.1:
        options["max_punctuations"] = random.choice([1, 2, 10**6])
    if random.random() < 0.1:
        options["propagation"] = random.choice(["early", "regular", "none", "own-state"])
    if random.random() < 0.1:
        options["node_size"], options["bucket_size"] = random.choice([2, 3, 1000]), random.choice([1, 7, 65_536])
    if random.random() < 0.1:
        options["sample_every"] = random.choice([1, "1 s", 10**9])
    if random.random() < 0.1:
        options["select"] = ["id0", *(["id1"] if options["how"] not in ("semi", "anti") else [])]
    if random.random() < 0.1:
        known = ["how", "algorithm", "where", "propagation", "purge_threshold", "max_punctuations", "bucket_memory"]
        known += ["sample_every", "buckets", "select", "shed", "node_size", "bucket_size"]
        options[random.choice(known)], case.is_known = random.choice(NONSENSE), False


_ORDERED = [dtype for dtype in TYPES if not (pa.types.is_nested(dtype) or pa.types.is_floating(dtype))]
_COMPARISONS: list[Callable[[Any, Any], Any]] = [
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]


def _draw_where(random: Random, case: Case) -> None:
    """A comparison of two columns, or of one with a value; numbers are small, so that nothing overflows."""
    left, right = (random.choice(side.payload) for side in case.sides)
    compare = random.choice(_COMPARISONS)
    kind = random.choice(["columns", "columns", "ids", "ids", "literal", "band"])
    ids = [[each.as_py() for each in side.table[f"id{number}"]] for number, side in enumerate(case.sides)]
    if kind == "band":
        case.where = lambda: pt.band(("id0", "id1"), -1, 2)
        case.test = lambda i, j: -1 <= ids[1][j] - ids[0][i] <= 2
    elif kind == "ids":
        is_inverted = random.random() < 0.3
        case.where = lambda: _inverted(compare(-pt.left("id0") + 3, pt.right("id1") * 2), is_inverted)
        case.test = lambda i, j: compare(-ids[0][i] + 3, ids[1][j] * 2) != is_inverted
    elif kind == "literal":
        value = random.choice(NONSENSE)
        case.where, case.is_known = lambda: compare(pt.left(left), value), False
    else:
        case.where = lambda: compare(pt.left(left), pt.right(right))
        columns = case.sides[0].table[left], case.sides[1].table[right]
        case.is_known = columns[0].type == columns[1].type and columns[0].type in _ORDERED
        ours, theirs = map(brute_force.python_values, columns)
        case.test = lambda i, j: ours[i] is not None and theirs[j] is not None and compare(ours[i], theirs[j])


def _inverted(expression: Any, is_inverted: bool) -> Any:
    return ~expression if is_inverted else expression & (pt.left("id0") >= 0)
