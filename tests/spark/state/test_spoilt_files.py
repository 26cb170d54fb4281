"""Steps whose host files are lost or damaged read the state store, and equal the oracle."""

import os
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from punctuated.storage.chunk_files import FOLDER_VARIABLE
from punctuated.testing.checks import check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Output, Steps, clear_cache, is_spreadable, pack_batch
from spark.step.test_step import run_steps
from storage.test_chunk_files import chunks

FEWER = settings(max_examples=settings().max_examples // 4)


def spoil(path: Path, random: Random) -> None:
    """What can happen to a file between two steps."""
    data = bytearray(path.read_bytes())
    what = random.choice(["lost", "cut", "changed", "nothing"])
    if what == "lost":
        path.unlink()
    elif what == "cut":
        path.write_bytes(data[: random.randrange(len(data))])
    elif what == "changed":
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(data)


@FEWER
@given(cases().filter(is_spreadable), st.integers(1, 5), st.integers(0, 1 << 30).map(Random))
def test_steps_over_spoilt_files_equal_the_oracle(case: Case, n: int, random: Random) -> None:
    folder = Path(os.environ[FOLDER_VARIABLE]) / "chunks"

    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        clear_cache()
        for path in chunks(folder):
            spoil(path, random)
        return steps.run(pack_batch(steps.query, batch, random))

    check_equals_oracle(lambda spec, batches: run_steps(spec, batches, n, random, run), case.spec, case.batches)
    for path in chunks(folder):
        path.unlink()
