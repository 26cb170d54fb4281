"""Which tactic carries out an algorithm."""

from collections.abc import Callable

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.setup import DriverSetup
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.multiway_arrays import MultiwayState
from punctuated.join.tactics.memory_join import MemoryJoin
from punctuated.join.tactics.multiway import Multiway
from punctuated.join.tactics.pwjoin import PWJoin
from punctuated.join.tactics.range_predicate import RangePredicate
from punctuated.join.tactics.tactic import Tactic
from punctuated.join.tactics.window_pair import WindowPair
from punctuated.join.tactics.window_state import WindowState


def choose_tactic(
    setup: DriverSetup,
    codec: KeyCodec,
    ranged: RangePredicate | None,
    allow: Callable[[int], None],
    *,
    filtered: bool,
) -> Tactic:
    """The tactic of a driver; `allow` is asked before more memory is taken, `filtered`: matches are decided later."""
    spec = setup.spec
    if spec.reaches:
        return Multiway(spec, codec, MultiwayState(spec, allow, filtered=filtered, hash_bits=setup.hash_bits))
    if spec.algorithm.structures is None:
        kind = MemoryJoin if spec.is_staged else PWJoin
        return kind(spec, codec, JoinState(spec, allow, filtered=filtered, hash_bits=setup.hash_bits))
    state = WindowState(spec, allow, filtered=filtered, hash_bits=setup.hash_bits)
    return WindowPair(spec, codec, state, ranged, setup.chooser)
