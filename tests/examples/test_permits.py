"""Three streams of cases that end: the same results by every proof, and a state of open cases only."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import permits
from example_harness import clock, cut, cut_all, load_or_skip, microseconds, printed, rows
from real_data import stored

pytestmark = pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")  # that is what some are to show
PROOFS = list(permits.proofs(pa.table({"permit": [""], "at": [0]})))
NOTHING, _, FLAGS, CASES = PROOFS


@cache
def log() -> permits.Log:
    return load_or_skip(permits.read_log)


@cache
def by_merging() -> pd.DataFrame:
    found = pd.DataFrame()
    for name, table in log().steps.items():
        steps = table.to_pandas().rename(columns={"at": f"{name}_at", "last": f"{name}_last"})
        found = steps if found.empty else found.merge(steps, on="permit")
    return found


@pytest.mark.parametrize("n_batches", [1, 6, 60])
@pytest.mark.parametrize("proof", PROOFS)
def test_results_are_those_of_merging_whatever_the_proof_and_the_cut(proof: str, n_batches: int) -> None:
    over = cut(log().over, n_batches, np.random.default_rng(n_batches))
    joined = permits.query(cut_all(log().steps, n_batches), **permits.proofs(over)[proof])
    assert rows(joined.results.to_pandas()) == rows(by_merging())
    assert joined.rejected.num_rows == 0


def peak(proof: str) -> int:
    return max(stored(permits.query(log().steps, **permits.proofs(log().over)[proof])))


def test_punctuations_save_memory() -> None:
    everything = sum(table.num_rows for table in log().steps.values())
    assert peak(NOTHING) == everything
    assert peak(CASES) < peak(FLAGS) < everything / 4


def test_only_steps_of_open_cases_are_remembered() -> None:
    joined = permits.query(log().steps, **permits.proofs(log().over)[CASES])
    samples = microseconds(joined.metrics["ts"])[:-2]  # the last ones are of the end of the batch, and of the streams
    times = [microseconds(table["at"]) for table in log().steps.values()]
    known = np.min(clock(times, samples), axis=0)  # what has ended by then has ended in all streams
    ends = dict(zip(log().over["permit"].to_pylist(), microseconds(log().over["at"]).tolist(), strict=True))
    most = np.zeros(samples.size, np.int64)
    for table, came in zip(log().steps.values(), times, strict=True):
        gone = np.sort([ends[permit] for permit in table["permit"].to_pylist()])
        most += np.searchsorted(came, samples) - np.searchsorted(gone, known)
    assert all(found <= bound for found, bound in zip(stored(joined), most.tolist(), strict=False))


def test_every_case_is_told_once_and_never_before_its_last_result() -> None:
    joined = permits.query(log().steps, **permits.proofs(log().over)[CASES])
    told = joined.punctuations.to_pandas().set_index("permit")["ts"]
    assert sorted(told.index) == sorted(log().over["permit"].to_pylist())
    found = by_merging()
    last = found[[f"{name}_at" for name in permits.STEPS]].max(axis=1).groupby(found["permit"]).max()
    assert (told[last.index] >= last).all()


def test_the_script_tells_the_answer() -> None:
    told = printed("permits")
    found = by_merging()
    assert f"  {len(found):,} results, of {found['permit'].nunique():,} permits;" in told
    lines = [line for line in told.splitlines() if line.startswith(tuple(f"  {proof}" for proof in PROOFS))]
    assert [line.split("  ")[1] for line in lines] == PROOFS
    assert all(f" {len(found):,} " in line for line in lines)
    assert f" {peak(CASES):,} " in lines[-1]


def test_no_case_takes_longer_than_the_window() -> None:
    steps = pd.concat([table.to_pandas() for table in log().steps.values()]).groupby("permit")["at"]
    assert (steps.max() - steps.min()).max() <= pd.Timedelta(permits.LONGEST)
