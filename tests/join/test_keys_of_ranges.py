"""Range endings over keys that are no numbers: text, and several columns at once."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import given

from driver_harness import TEXTS, new_driver, run
from journaled import journaled
from punctuated.model.batch import Row
from punctuated.model.pattern import Constant, OneOf, Pattern, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, OnViolation
from punctuated.operator.driver import JoinDriver
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import LARGEST_TIME, Batch, Case, Object, cases
from punctuated.testing.tables import stream_schema


def letter(key: int | None) -> str | None:
    return None if key is None else "abcdefghi"[key]


def in_letters(pattern: Pattern) -> Pattern:
    if isinstance(pattern, Constant):
        return Constant(letter(pattern.value))
    if isinstance(pattern, OneOf):
        return OneOf(tuple(map(letter, pattern.values)))
    if isinstance(pattern, Range):
        return replace(pattern, low=letter(pattern.low), high=letter(pattern.high))
    return pattern


def with_letters(each: Object) -> Object:
    """The same object with letters for keys."""
    if isinstance(each, Punctuation):
        return replace(each, patterns=(in_letters(each.patterns[0]), *each.patterns[1:]))
    return Row((letter(each.values[0]), *each.values[1:]))


def as_text(case: Case) -> Case:
    batches: list[Batch] = [
        tuple([with_letters(each) for each in stream] for stream in batch) for batch in case.batches
    ]
    return replace(case, batches=batches)


def with_two_columns(case: Case) -> Case:
    """The key is the payload too.

    Clustered streams would need an order of nulls, and a tuple with a null that is accepted in spite of a promise is
    not turned away after an output range.
    """
    left, right = (
        replace(stream, key=("k", stream.columns[2]), clustered=False, on_violation=OnViolation.REJECT)
        for stream in case.spec.streams
    )
    return replace(case, spec=replace(case.spec, streams=(left, right)))


def driver_of(spec: JoinSpec, first: pa.DataType) -> JoinDriver:
    """With this type of the first column, which is part of the key."""
    schemas = [stream_schema(stream).set(0, pa.field("k", first)) for stream in spec.streams]
    return new_driver(spec, schemas=schemas)


def numbered_in_order(spec: JoinSpec, first: pa.DataType) -> JoinDriver:
    """A driver whose keys are numbered in their order, as the oracle forgets those that are equally old.

    A payload is a small number, or a time not long before or after one of a tuple.
    """
    driver = driver_of(spec, first)
    keys = [letter(key) if first == pa.string() else key for key in range(8)]
    payloads = range(-9, LARGEST_TIME + 9 + 1) if len(spec.left.key) == 2 else [None]
    pairs = [(key, payload) for key in keys for payload in payloads]
    columns = zip(zip(*pairs, strict=True), driver.codec.types, strict=False)
    driver.codec.encode([pa.chunked_array([pa.array(column, dtype)]) for column, dtype in columns])
    return driver


def run_on_text(spec: JoinSpec, batches: Any) -> list[Observed]:
    return run(spec, batches, numbered_in_order(spec, pa.string()))


def run_on_two_columns(spec: JoinSpec, batches: Any) -> list[Observed]:
    return run(spec, batches, numbered_in_order(spec, pa.int64()))


def run_restored(spec: JoinSpec, batches: Any, first: pa.DataType) -> list[Observed]:
    """Every batch by a driver that knows the journal alone."""
    return run(spec, batches, numbered_in_order(spec, first), between=journaled(lambda: driver_of(spec, first)))


@given(cases().map(as_text))
def test_text_equals_the_oracle(case: Case) -> None:
    check_equals_oracle(run_on_text, case.spec, case.batches, domain=TEXTS)


@given(cases(small_memory=True).map(as_text))
def test_text_equals_the_oracle_where_punctuations_are_soon_forgotten(case: Case) -> None:
    check_equals_oracle(run_on_text, case.spec, case.batches, domain=TEXTS)


@given(cases().map(as_text))
def test_text_survives_in_the_journal(case: Case) -> None:
    check_equals_oracle(lambda s, b: run_restored(s, b, pa.string()), case.spec, case.batches, domain=TEXTS)


@given(cases().map(with_two_columns))
def test_two_columns_equal_the_oracle(case: Case) -> None:
    check_equals_oracle(run_on_two_columns, case.spec, case.batches)


@given(cases(small_memory=True).map(with_two_columns))
def test_two_columns_equal_the_oracle_where_punctuations_are_soon_forgotten(case: Case) -> None:
    check_equals_oracle(run_on_two_columns, case.spec, case.batches)


@given(cases().map(with_two_columns))
def test_two_columns_survive_in_the_journal(case: Case) -> None:
    check_equals_oracle(lambda s, b: run_restored(s, b, pa.int64()), case.spec, case.batches)
