"""XJoin and PJoin in stages (PJ-13): tuples in memory meet as in PWJoin; those on disk meet later, in stages."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from punctuated.errors import AlgorithmError
from punctuated.expressions.nodes import Expression
from punctuated.keys.codec import KeyCodec
from punctuated.model.memory import Memory, show_size
from punctuated.model.policy import Policy
from punctuated.model.spec import JoinSpec, JoinType, OnViolation
from punctuated.model.window import show_duration
from punctuated.operator.family import Allow, Explained
from punctuated.operator.pwjoin.tactic import PWJoin, joined_by_value, purge_line
from punctuated.operator.staged.join import StagedJoin
from punctuated.operator.tactic import Tactic
from punctuated.output.collector import Collector
from punctuated.punctuations.memory import PunctuationState
from punctuated.spill.policy import SpillPolicy, Stored
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import TableStore


class MemoryJoin(PWJoin):
    """The memory join, which is always on (PJ-13)."""

    def forget_keys(self, punctuations: PunctuationState) -> None:
        """Keys keep their numbers: tuples on disk have them."""


# The family


class StagedJoins:
    """Inner joins of two streams without windows, whose results with tuples on disk come later."""

    def check(self, spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]) -> None:
        """Raise if a join in stages is asked for something it cannot do."""
        name = spec.algorithm.name
        if spec.how is not JoinType.INNER:
            raise AlgorithmError(
                f"how={spec.how.value!r}: a match may still be on disk, so {name!r} in stages is always an inner join; "
                "use another algorithm, or leave memory= and policy= out"
            )
        if spec.purge_threshold != 1:
            raise AlgorithmError("give purge_threshold= here by policy=pt.Policy(purge='lazy', purge_threshold=…)")
        if spec.shed is not None:
            raise AlgorithmError(
                f"shed= leaves tuples out, but {name!r} in stages puts them on disk: use only one of both"
            )
        if not spec.left.key:
            raise AlgorithmError(f"{name!r} in stages finds tuples by their keys: give both streams key=")
        for stream in spec.streams:
            if stream.window is not None:
                raise AlgorithmError(
                    f"stream {stream.name!r} has a window, but {name!r} in stages has none; use 'pwjoin', which has "
                    "both"
                )
            if stream.on_violation is OnViolation.ACCEPT:
                raise AlgorithmError(
                    f"stream {stream.name!r} has on_violation='accept', but {name!r} in stages relies on punctuations; "
                    "use 'reject' or 'fail'"
                )

    def build(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow
    ) -> tuple[Tactic, Collector]:
        """The memory join, and a collector of pairs."""
        return joined_by_value(setup, codec, rows, allow, MemoryJoin)

    def spill(self, stored: Stored, store: TableStore) -> SpillPolicy:
        """The stages: partitions go to disk, and are joined there."""
        return StagedJoin(stored, store)

    def explain(self, spec: JoinSpec) -> Iterator[Explained]:
        """When it purges, and what the stages are."""
        assert spec.policy is not None
        yield purge_line(spec)
        yield Explained("stages", _stages(spec.policy, spec.memory))


def _stages(policy: Policy, memory: Memory | None) -> str:
    limit = "all tuples in memory"
    if memory is not None:
        size = show_size(memory.nbytes) if memory.nbytes is not None else f"{memory.tuples:,} tuples"
        limit = f"{size} in memory, the rest on disk"
    silence = "" if policy.silence_us is None else f", or silent for {show_duration(policy.silence_us)}"
    return f"{limit}; a disk join when a batch is empty{silence}, and when a stream ends"


FAMILY = StagedJoins()
