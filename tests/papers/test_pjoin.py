"""The experiments of PJoin run small; what does not depend on a clock holds there, too."""

import pyarrow as pa
import pytest

from papers.experiments import EXPERIMENTS
from papers.pjoin.runs import OPEN, TUPLE_US, punctuated_streams, run_join
from punctuated.model.policy import Policy
from punctuated.model.times import to_microseconds

NAMES = [name for name in EXPERIMENTS if name.startswith("pj_")]
BY_CLOCK = ("throughput", "faster", "steadily")


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_depend_on_a_clock_holds(name: str) -> None:
    claims = EXPERIMENTS[name].run(scale=0.05)["claims"]
    broken = [each["claim"] for each in claims if not each["holds"]]
    assert [claim for claim in broken if not any(word in claim for word in BY_CLOCK)] == []


def tuples(table: pa.Table) -> pa.Table:
    return table.filter(pa.compute.is_null(table["punctuation"]))


def test_streams_are_as_described_and_keep_their_promises() -> None:
    for spacing, table in zip((10, 40), punctuated_streams(4000, (10, 40)), strict=True):
        rows = tuples(table)
        assert len(rows) == pytest.approx(4000, rel=0.05)
        last = int(to_microseconds(rows["ts"], "ts")[-1])
        assert last == pytest.approx(4000 * TUPLE_US, rel=0.01)
        assert len(table) - len(rows) == pytest.approx(4000 / spacing, rel=0.25)
        assert len(rows["key"].unique()) == pytest.approx(400 + OPEN, rel=0.1)
    run = run_join(punctuated_streams(1000, (10, 20)), "pjoin", policy=Policy())
    assert run["rejected"] == 0
