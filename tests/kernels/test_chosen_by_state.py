"""One name in kernels, another function for every type of state: the compiler chooses, and the machine code is kept."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.caching import NullCache

from punctuated.kernels import by_state
from punctuated.kernels.jit import ChosenByState, chosen_by_state, in_place, inlined, subroutine
from punctuated.kernels.layout import Ints, State
from punctuated.kernels.multiway.layout import MultiState
from punctuated.kernels.multiway.process import process_many
from punctuated.kernels.process import process_batch


class Pair(NamedTuple):
    numbers: Ints


class Many(NamedTuple):
    numbers: Ints
    seen: Ints


@chosen_by_state
def how_many(state: Pair | Many) -> int:
    raise NotImplementedError


@chosen_by_state
def add(state: Pair | Many, place: int, number: int) -> int:
    """Put a number to the one at a place."""
    raise NotImplementedError


@how_many.of(Pair)
@inlined
def two(state: Pair) -> int:
    return 2


@add.of(Pair)
@inlined
def add_to_pair(state: Pair, place: int, number: int) -> int:
    state.numbers[place] += number
    return 1


@in_place
def add_everywhere(state: Pair | Many, number: int) -> int:
    """A kernel that knows nothing of either state."""
    n = 0
    for place in range(how_many(state)):
        n += add(state, place, number)
    return n


def register_many() -> None:
    """As a module does that is imported later."""

    @how_many.of(Many)
    @inlined
    def size(state: Many) -> int:
        return state.numbers.size

    @add.of(Many)
    @subroutine
    def add_to_many(state: Many, place: int, number: int) -> int:
        state.numbers[place] += number
        state.seen[0] += 1
        return 10


def test_the_type_of_the_state_chooses_even_if_it_is_known_later() -> None:
    compiled: Any = add_everywhere
    compiled._cache = NullCache()  # or code for Many would be there from the last run of this test
    pair, many = Pair(np.zeros(3, np.int64)), Many(np.zeros(3, np.int64), np.zeros(1, np.int64))
    assert add_everywhere(pair, 5) == 2 and pair.numbers.tolist() == [5, 5, 0]
    with pytest.raises(Exception, match="no how_many of Many: is its module imported"):
        add_everywhere(many, 7)
    register_many()
    assert add_everywhere(many, 7) == 30
    assert (many.numbers.tolist(), many.seen.tolist()) == ([7, 7, 7], [3])
    assert add_everywhere(pair, 1) == 2 and pair.numbers.tolist() == [6, 6, 0]
    assert not any("NRT_" in code for code in compiled.inspect_llvm().values())  # no references are counted
    assert add.__doc__ == "Put a number to the one at a place."


def test_a_state_has_one_function_of_a_name() -> None:
    with pytest.raises(AssertionError, match="add of Pair is there already"):
        add.of(Pair)(add_to_pair)


KERNELS = """
from typing import NamedTuple
import numpy as np
from punctuated.kernels.jit import chosen_by_state, in_place, inlined

class One(NamedTuple):
    numbers: np.ndarray

class Other(NamedTuple):
    numbers: np.ndarray

@chosen_by_state
def factor(state): ...

@factor.of(One)
@inlined
def two(state):
    return 2

@factor.of(Other)
@inlined
def three(state):
    return 3

@in_place
def scale(state):
    state.numbers[0] *= factor(state)
"""
USE = """
import numpy as np
from scaling import One, Other, scale
states = One(np.ones(1, np.int64)), Other(np.ones(1, np.int64))
for state in states:
    scale(state)
print([int(state.numbers[0]) for state in states], sum(scale.stats.cache_hits.values()))
"""


def test_each_choice_is_kept_on_disk(tmp_path: Path) -> None:
    (tmp_path / "scaling.py").write_text(KERNELS, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    said = [
        subprocess.run([sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said == ["[2, 3] 0\n", "[2, 3] 2\n"]


def test_a_body_is_named_like_its_kernel_and_stands_where_the_table_says() -> None:
    assert all(map(callable, (process_batch, process_many)))  # their modules bring all bodies
    rows = [line.split() for line in str(by_state.__doc__).splitlines() if line.startswith("    ")][1:]
    table = {name: (f"punctuated.kernels.{of_two}", f"punctuated.kernels.{of_many}") for name, of_two, of_many in rows}
    chosen = {name: each for name, each in vars(by_state).items() if isinstance(each, ChosenByState)}
    assert table.keys() == chosen.keys()
    for name, each in chosen.items():
        bodies = [each.bodies[State], each.bodies[MultiState]]
        assert [body.__name__ for body in bodies] == [f"{name}_of_two", f"{name}_of_many"]
        assert tuple(body.__module__ for body in bodies) == table[name]
