"""Which checkpoints a query accepts after an option of streams was added, and what it says of those it refuses."""

from dataclasses import dataclass, fields, replace

import pyarrow as pa
import pytest

from punctuated.errors import SnapshotError
from punctuated.model.spec import JoinSpec, OnViolation, StreamSpec
from punctuated.snapshot.fingerprint import Fingerprint, check
from punctuated.state import fingerprint
from punctuated.state.fingerprint import fingerprint_of

OLD = StreamSpec("A", ("k", "ts"), ("k",), "ts")
OTHER = replace(OLD, name="B")


@dataclass(frozen=True)
class NewSpec(StreamSpec):
    """A stream as a later version of this package might declare it."""

    most_rows: int | None = None
    grace_us: int = 0
    if_full: OnViolation = OnViolation.REJECT


NEW = NewSpec("A", ("k", "ts"), ("k",), "ts")


def of(stream: StreamSpec) -> Fingerprint:
    schema = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
    return fingerprint_of(JoinSpec((stream, OTHER)), [schema, schema], [pa.int64()])


def test_an_option_at_its_default_accepts_old_checkpoints() -> None:
    assert of(NEW) == of(OLD)
    check(of(OLD), of(NEW))
    check(of(NEW), of(OLD))


@pytest.mark.parametrize(
    ("options", "saved", "here"),
    [
        ({"most_rows": 5}, "the default most_rows", "most_rows=5"),
        ({"grace_us": 60_000_000}, "the default grace", "grace='1 min'"),
        ({"if_full": OnViolation.FAIL}, "the default if_full", "if_full='fail'"),
        (
            {"most_rows": 5, "lateness_us": 1_000_000},
            "lateness='0 s', the default most_rows",
            "lateness='1 s', most_rows=5",
        ),
    ],
)
def test_an_option_that_is_used_is_named_with_both_values(options: dict[str, object], saved: str, here: str) -> None:
    used = replace(NEW, **options)  # type: ignore[arg-type]
    with pytest.raises(SnapshotError, match=f"its stream 'A' is declared with {saved}, here it is .* {here};"):
        check(of(OLD), of(used))
    with pytest.raises(SnapshotError, match=f"its stream 'A' is declared with {here}, here it is .* {saved};"):
        check(of(used), of(OLD))  # an older version reads it


def test_a_known_option_that_only_one_side_lists_has_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    def listing(more: tuple[str, ...], stream: StreamSpec) -> Fingerprint:
        with monkeypatch.context() as patch:
            patch.setattr(fingerprint, "_ALWAYS", (*fingerprint._ALWAYS, *more))
            return of(stream)

    now = listing(("idle_after_us",), OLD)
    assert now != of(OLD)
    check(of(OLD), now)
    with pytest.raises(
        SnapshotError, match="declared with idle_after=None, here it is declared with idle_after='1 s';"
    ):
        check(of(OLD), listing(("idle_after_us",), replace(OLD, idle_after_us=1_000_000)))


def test_every_field_of_a_stream_counts_in_some_way() -> None:
    names = {each.name for each in fields(StreamSpec)}
    assert {*fingerprint._ALWAYS, *fingerprint._NEVER} <= names
