"""What a driver is made of: plain data, and two functions, which choose structures and divide resources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

import pyarrow as pa

from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Shape
from punctuated.model.batch import BucketId
from punctuated.model.load import Allocate, Chooser
from punctuated.model.spec import JoinSpec
from punctuated.storage.scratch import TableStore

ONLY_BUCKET = BucketId()


class Asked(TypedDict, total=False):
    """What a runner may ask of a driver, beyond the join itself: fields of `DriverSetup`."""

    timed: bool
    bucket_bytes: int | None
    sample_us: int | None
    sample_from_us: int | None
    hash_bits: int
    tables: TableStore | None


@dataclass(frozen=True)
class DriverSetup:
    """A join, or one bucket of it, and what it is asked for."""

    spec: JoinSpec
    schemas: tuple[pa.Schema, ...]  # of the tuples, keys already of `key_types`
    key_types: tuple[pa.DataType, ...]
    where: Expression | None = None  # an extra predicate on results
    shape: Shape | None = None  # how results are changed before they come out
    chooser: Chooser | None = None  # may change the structures of windows after a batch
    allocate: Allocate | None = None  # divides CPU and memory, if the join sheds
    timed: bool = False  # whether the time of each result is wanted
    estimated: bool = False  # whether estimates need the chances of each result
    bucket_bytes: int | None = None  # the most that it may hold, unless the join has a limit itself
    sample_us: int | None = None  # metrics are taken at this step of event time
    sample_from_us: int | None = None  # from here on; none: from the first tuple on
    hash_bits: int = 64  # fewer force collisions
    place: BucketId = ONLY_BUCKET
    tables: TableStore | None = None  # for what goes beyond memory; none: scratch files of this process
    definition: Mapping[str, str] = field(default_factory=dict)  # what a saved state depends on beside `spec`

    @property
    def largest(self) -> int | None:
        """The most bytes that it may hold."""
        return self.spec.bucket_bytes if self.spec.bucket_bytes is not None else self.bucket_bytes

    @property
    def repeated(self) -> tuple[int, ...]:
        """The sides whose tuples another bucket has, too, and reports."""
        return () if self.place.is_primary else self.spec.everywhere
