"""States that earlier versions wrote: those of this format load and go on, others are refused with what to do."""

from pathlib import Path

import pytest

from golden.states import JOINS, driver_of, gone_on
from punctuated.arrow.ipc import unpack_bundle
from punctuated.errors import SnapshotError
from punctuated.snapshot.fingerprint import FORMAT
from punctuated.snapshot.journal import restore

ROOT = Path(__file__).parent
NOW = ROOT / f"format_{FORMAT}"
EARLIER = [path for path in sorted(ROOT.glob("format_*/*.state")) if path.parent != NOW]


def kept(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(' ', '_')}.state"


@pytest.mark.parametrize("name", JOINS)
def test_a_state_of_this_format_goes_on_as_if_nothing_had_happened(name: str) -> None:
    state = kept(NOW, name).read_bytes()
    found, wanted = gone_on(name, state), gone_on(name, None)
    assert found == wanted, "what is saved has changed: raise FORMAT, write states of the new one (golden/states.py)"
    assert len(wanted) > 10


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_state_of_an_earlier_format_is_refused_with_what_to_do(path: Path) -> None:
    name = next(name for name in JOINS if kept(path.parent, name) == path)
    entries = [bytes(entry) for entry in unpack_bundle(path.read_bytes()).values()]
    number = path.parent.name.removeprefix("format_")
    with pytest.raises(SnapshotError, match=rf"has format {number}, .* start with a new checkpoint"):
        restore(driver_of(name), entries)


def test_there_are_states_of_the_version_before() -> None:
    assert {path.parent.name for path in EARLIER} >= {"format_5"}
