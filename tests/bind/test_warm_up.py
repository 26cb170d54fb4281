"""A host that is warm has machine code for every kind of join, and says so to those who come later."""

from pathlib import Path

import pytest

import punctuated as pt
from punctuated import private_folder
from punctuated.bind import warm_up


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host on which nobody has been; the machine code itself is where it always is."""
    monkeypatch.setattr(warm_up, "code_folder", lambda: tmp_path)
    warm_up.compile_once.cache_clear()
    return tmp_path


def test_a_host_is_warm_for_joins_of_every_kind(cold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pt.warm_up()
    assert {each.name.partition(".")[2] for each in cold.glob("*.ready")} == {
        "ready",
        "expiries.ready",
        "pairs.ready",
        "four.ready",
        "eight.ready",
        "cold.ready",
        "cold.expiries.ready",
        "cold.four.ready",
        "cold.eight.ready",
        "stages.ready",
    }

    def refuse(kernels: warm_up.Kernels) -> None:
        raise AssertionError(f"compiled again: {kernels}")

    monkeypatch.setattr(warm_up, "load_kernels", refuse)
    warm_up.compile_once.cache_clear()  # as another process
    pt.warm_up()


def test_where_nothing_can_be_kept_each_process_compiles_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "load_kernels", lambda kernels: pytest.fail("compiled for nobody"))
    monkeypatch.setattr(private_folder, "_done_without", set())
    for folder in (None, tmp_path / "nowhere"):  # as a folder that cannot be written, which root always can
        monkeypatch.setattr(warm_up, "code_folder", lambda folder=folder: folder)
        warm_up.compile_once.cache_clear()
        if folder is None:
            pt.warm_up()
        else:
            with pytest.warns(pt.CacheWarning, match="cannot be kept for other processes"):
                pt.warm_up()
    warm_up.compile_once.cache_clear()
