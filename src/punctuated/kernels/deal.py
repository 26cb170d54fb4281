"""Rows dealt to buckets: those of each bucket together, in the order in which they come.

Rows of two buckets, of which the second begins at place 3:

    buckets   1 0 0 1 0
    places    3 0 1 4 2
    numbers   a b c d e  ──►  b c e | a d
"""

from punctuated.kernels._jit import in_place
from punctuated.kernels.layout import Indices, Ints


@in_place
def place_rows(buckets: Ints, starts: Ints, places: Indices) -> None:
    """Where each row goes; `starts` move on to where the next one of each bucket would go."""
    for i in range(buckets.size):
        bucket = buckets[i]
        places[i] = starts[bucket]
        starts[bucket] += 1


@in_place
def deal_numbers(numbers: Ints, places: Indices, dealt: Ints) -> None:
    """Write each number to its place."""
    for i in range(numbers.size):
        dealt[places[i]] = numbers[i]
