"""`INSERT INTO`: where results go, and where a query keeps how far it is."""

from pathlib import Path

import pytest

from punctuated.sql.parse.errors import SqlError
from punctuated.sql.parse.statements import parse_script
from punctuated.sql.parse.syntax import Insert
from punctuated.sql.run.sinks import Target, target_of
from punctuated.sql.run.spark import Until, phases
from punctuated.storage.tables.sink import TableKind

SCRIPT = Path("/scripts/auctions.sql")


def target(sink: str) -> Target:
    (statement,) = parse_script(f"INSERT INTO {sink} SELECT a FROM s")
    assert isinstance(statement, Insert)
    return target_of(statement, SCRIPT)


def test_tables_lie_where_the_script_says() -> None:
    found = target("'parquet' OPTIONS (path 'out/x', rejected 'out/r', punctuations '/p', partition_by 'day, hour')")
    assert found.table is not None
    assert (found.name, found.table.path, found.table.partition_by) == ("x", "/scripts/out/x", ("day", "hour"))
    assert {name: each.path for name, each in found.beside.items()} == {
        "punctuations": "/p",
        "rejected": "/scripts/out/r",
    }


def test_a_delta_table_hands_on_what_its_store_needs() -> None:
    found = target("'delta' OPTIONS (path 's3a://bucket/x', AWS_REGION 'eu-west-1', file_size '64 MiB')").table
    assert found is not None
    assert (found.kind, found.path, found.file_bytes) == (TableKind.DELTA, "s3a://bucket/x", 64 << 20)
    assert found.storage_options == {"AWS_REGION": "eu-west-1"}


def test_other_formats_are_sparks() -> None:
    found = target("'json' OPTIONS (path 'out/x', compression 'gzip')")
    assert (found.format, found.table, found.options) == (
        "json",
        None,
        {"path": "/scripts/out/x", "compression": "gzip"},
    )


def test_checkpoints_lie_beside_the_script() -> None:
    found = target("'parquet' OPTIONS (path 'out/x')")
    assert Path(found.checkpoint).parent == Path("/scripts/auctions.checkpoints")
    assert Path(found.checkpoint).name.startswith("x-")


def test_a_checkpoint_follows_from_the_sink_alone() -> None:
    one, other = target("'parquet' OPTIONS (path 'a/x')"), target("'parquet' OPTIONS (path 'b/x')")
    same = target("'parquet' OPTIONS (path 'a/x', rejected 'r')")
    assert one.checkpoint == same.checkpoint != other.checkpoint
    assert target("'console' OPTIONS (checkpoint 'c')").checkpoint == "/scripts/c"


@pytest.mark.parametrize(
    ("sink", "words"),
    [
        ("'parquet'", "give OPTIONS (path '…')"),
        ("'parquet' OPTIONS (path 'x', pth 'y')", "no option pth; there are path, checkpoint, punctuations, rejected"),
        ("'kafka' OPTIONS (topic 't', rejected 'r')", "'kafka' gets results alone"),
        ("'console' OPTIONS (numRows 5)", "takes no option but checkpoint"),
        ("'console' OPTIONS (path 'x')", "takes no option but checkpoint"),
        ("'parquet' OPTIONS (path 'x', rejected 'x')", "path and rejected are the same place"),
        ("'parquet' OPTIONS (path 'x', rejected 'r', punctuations 'r')", "are the same place"),
        ("'parquet' OPTIONS (path 'x', checkpoint 'x')", "checkpoint and path are the same place"),
        ("'parquet' OPTIONS (path 'x', checkpoint '')", "the option checkpoint is empty"),
        ("'parquet' OPTIONS (path 'x', compression 'zip')", "compression='zip'"),
    ],
)
def test_what_cannot_be_says_where_and_why(sink: str, words: str) -> None:
    with pytest.raises(SqlError) as caught:
        target(sink)
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, 1)


def test_the_end_of_the_streams_is_a_batch_of_its_own() -> None:
    first, last = phases(Until.ENDED)
    assert (first.ends, first.trigger, last.ends, last.trigger) == (False, {"availableNow": True}, True, {"once": True})
    assert [each.ends for each in phases(Until.CAUGHT_UP)] == [False]
    assert phases(Until.STOPPED, "5 seconds")[0].trigger == {"processingTime": "5 seconds"}
