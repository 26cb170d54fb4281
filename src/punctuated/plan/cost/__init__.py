"""What a window join costs, which structures to choose, how many results to expect: Kang, Naughton and Viglas.

There is one function per formula, over one `CostModel`. *A* is the left stream and *B* the right one; two numbers, and
two letters such as "TN", always have that of the left stream first. With logical windows, `windows` are rates times
lengths (KN-09). Equations that no plan goes by are in `papers`, a package of its own.

Imports what stands below `plan` in docs/contributing/architecture.md. Tests: tests/plan/test_cost.py and others there.
"""

from punctuated.plan.cost.cardinality import output_rate, selectivity, window_state
from punctuated.plan.cost.crossover import SHOWN_PAIRS, Crossover, crossovers
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE, PREDICATES, STRUCTURES
from punctuated.plan.cost.model import (
    ALL_PAIRS,
    Candidate,
    CostModel,
    best,
    candidates,
    direction_costs,
    insert_cost,
    invalidate_cost,
    one_way_cost,
    probe_cost,
    unit_time_cost,
)
from punctuated.plan.cost.table import PAPER_TABLE, Workload
from punctuated.plan.cost.weights import (
    KANG_WEIGHTS,
    ValueIndexWeight,
    Weight,
    Weights,
    calibrated_weights,
    load_weights,
    save_weights,
    weights_content,
    weights_path,
)

__all__ = [
    "ALL_PAIRS",
    "BUCKET_SIZE",
    "KANG_WEIGHTS",
    "NODE_SIZE",
    "PAPER_TABLE",
    "PREDICATES",
    "SHOWN_PAIRS",
    "STRUCTURES",
    "Candidate",
    "CostModel",
    "Crossover",
    "ValueIndexWeight",
    "Weight",
    "Weights",
    "Workload",
    "best",
    "calibrated_weights",
    "candidates",
    "crossovers",
    "direction_costs",
    "insert_cost",
    "invalidate_cost",
    "load_weights",
    "one_way_cost",
    "output_rate",
    "probe_cost",
    "save_weights",
    "selectivity",
    "unit_time_cost",
    "weights_content",
    "weights_path",
    "window_state",
]
