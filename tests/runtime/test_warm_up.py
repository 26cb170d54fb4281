"""A host that is warm has machine code for every kind of join, and says so to those who come later."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.exchange.parcels import read_parcels, write_parcels
from punctuated.exchange.spread import spread
from punctuated.kernels.code_cache import CodeCache
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import StreamSpec
from punctuated.output.groups.group_by import number_groups
from punctuated.runtime import warm_up
from punctuated.runtime.kernel_groups import SUPPORT, Kernels, run_small_join
from punctuated.storage import private_folder


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A host on which nobody has been; the machine code itself is where it always is."""
    monkeypatch.setattr(warm_up, "code_folder", lambda: tmp_path)
    warm_up.compile_all.cache_clear()
    yield tmp_path
    warm_up.compile_all.cache_clear()


def test_a_host_is_warm_for_joins_of_every_kind(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pt.warm_up()
    assert {each.name.partition(".")[2] for each in cold.glob("*.ready")} == {
        f"{kernels.value[1:]}.ready" for kernels in Kernels
    }

    def refuse(kernels: Kernels) -> None:
        raise AssertionError(f"compiled again: {kernels}")

    monkeypatch.setattr(warm_up, "load_kernels", refuse)
    warm_up.compile_all.cache_clear()  # as another process
    pt.warm_up()


def refuse_more(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on whatever is compiled is an error."""

    def refuse(cache: Any, sig: Any, data: Any) -> None:
        raise AssertionError(f"{name} lacks {cache._name} of {sig}")

    monkeypatch.setattr(CodeCache, "save_overload", refuse)


@pytest.mark.parametrize("kernels", [*SUPPORT, *(each for each in Kernels if each.goes_beyond_memory)])
def test_a_join_compiles_nothing_after_that(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    warm_up.compile_all(tuple(Kernels))
    refuse_more(kernels.name, monkeypatch)
    run_small_join(kernels)


@pytest.mark.parametrize("key_type", [pa.int64(), pa.string()], ids=str)
def test_an_exchange_and_groups_compile_nothing_after_that(
    key_type: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In buckets, with columns of whole numbers and others, some of them with nulls."""
    warm_up.compile_all((Kernels.EXCHANGE, Kernels.GROUPS))
    refuse_more("the exchange", monkeypatch)
    numbers = pa.array([i if i % 7 else None for i in range(3_000)])
    rows = pa.table({"k": numbers.cast(key_type), "ts": range(3_000), "v": numbers, "x": [0.5] * 3_000})
    stream = StreamSpec(name="A", columns=("k", "ts", "v", "x"), key=("k",), time="ts")
    written = list(write_parcels(spread(stream, StreamBatch(rows), [key_type], 3)))
    read = pa.concat_tables(read_parcels(rows.schema, [data]).rows for data in written)
    assert len(read) == 3_000
    assert len(number_groups(rows.select(["k"]).slice(0, 0), read)[1]) == 3_000 - len(rows) // 7


def test_those_who_come_together_share_the_work(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process is at is left to it, until nothing else is to be done."""
    done: list[Kernels] = []
    needed = Kernels.TWO_STREAMS, Kernels.SUMS

    def take(lock: Any, waits: bool) -> bool:
        return waits or not lock.name.endswith("values.lock")

    monkeypatch.setattr(warm_up, "_take", take)
    monkeypatch.setattr(warm_up, "load_kernels", done.append)
    warm_up.compile_all(needed)
    assert done == [Kernels.SUMS, Kernels.TWO_STREAMS]


def test_where_nothing_can_be_kept_each_process_compiles_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "load_kernels", lambda kernels: pytest.fail("compiled for nobody"))
    monkeypatch.setattr(private_folder, "_done_without", set())
    for folder in (None, tmp_path / "nowhere"):  # as a folder that cannot be written, which root always can
        monkeypatch.setattr(warm_up, "code_folder", lambda folder=folder: folder)
        warm_up.compile_all.cache_clear()
        if folder is None:
            pt.warm_up()
        else:
            with pytest.warns(pt.CacheWarning, match="cannot be kept for other processes"):
                pt.warm_up()
    warm_up.compile_all.cache_clear()


def test_processes_beside_this_one_take_what_nobody_is_at(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str], **options: Any) -> None:
            started.append(command[3:])

        def wait(self) -> None:
            """It is done."""

    monkeypatch.setattr("subprocess.Popen", Process)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(warm_up, "_take", lambda lock, waits: not lock.name.endswith("values.lock"))
    warm_up.compile_beside((Kernels.TWO_STREAMS, Kernels.SUMS, Kernels.EXCHANGE, Kernels.STRUCTURES))
    assert started == [["SUMS", "EXCHANGE", "STRUCTURES"]] * 2
