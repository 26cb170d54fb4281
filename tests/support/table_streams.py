"""Streams over tables as the type checker should see them, where pyarrow has no types."""

from typing import Any

import punctuated as pt


def declare(data: Any, **options: Any) -> pt.TableStream:
    """`pt.stream` over a table, or a list of them."""
    declared: pt.TableStream = pt.stream(data, **options)
    return declared
