"""The archive of finished values, against expanding all runs into single values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.kernels import layout as lay
from punctuated.kernels.archive import archive_values

ONE, BOTH = (lay.ENDED | lay.EFFECT) | lay.OUT, 3 * (lay.ENDED | lay.EFFECT) | lay.OUT
KNOWN = st.dictionaries(st.integers(-9, 9), st.sampled_from([ONE, BOTH]))
FINISHED = st.dictionaries(st.integers(-9, 9), st.sampled_from([ONE, BOTH]))


def runs_of(known: dict[int, int]) -> lay.Records:
    runs = [(code, code, flags, 5) for code, flags in sorted(known.items())]
    return np.array(runs, lay.FINISHED)


def archived(known: lay.Records, finished: dict[int, int], place: tuple[int, int]) -> lay.Records:
    values, endings = (np.zeros(len(finished), of(2)) for of in (lay.value_type, lay.ending_type))
    values["code"], values["flags"] = list(finished), list(finished.values())
    endings["touched"] = 7
    done = np.argsort(values["code"])
    runs = np.empty(known.size + 2 * done.size, lay.FINISHED)
    n, n_waiting = archive_values(values, endings, done, known, runs, place)
    assert n_waiting == 0
    assert (values["flags"] & lay.ARCHIVED != 0).all()
    return runs[:n].copy()


def expanded(runs: lay.Records) -> dict[int, int]:
    return {code: int(run["flags"]) for run in runs for code in range(run["low"], run["high"] + 1)}


@pytest.mark.parametrize("place", [(0, 1), (0, 0)])
@given(known=KNOWN, first=FINISHED, second=FINISHED)
def test_values_replace_what_runs_say_of_them(
    place: tuple[int, int], known: dict[int, int], first: dict[int, int], second: dict[int, int]
) -> None:
    runs = archived(archived(runs_of(known), first, place), second, place)
    assert expanded(runs) == known | first | second
    assert (runs["high"][:-1] < runs["low"][1:]).all()
    assert set(runs["touched"].tolist()) <= {5, 7}


def test_neighbours_are_one_run_if_one_of_them_is_new() -> None:
    runs = archived(runs_of({1: ONE, 2: ONE, 4: ONE, 5: BOTH}), {3: ONE}, (0, 1))
    assert runs.tolist() == [(1, 1, ONE, 5), (2, 4, ONE, 7), (5, 5, BOTH, 5)]
    assert archived(runs_of({2: ONE}), {3: ONE}, (0, 0)).tolist() == [(2, 2, ONE, 5), (3, 3, ONE, 7)]
