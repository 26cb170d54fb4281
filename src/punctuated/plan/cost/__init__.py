"""What a window join costs, which structures to choose, how many results to expect: Kang, Naughton and Viglas.

There is one function per formula, over one `CostModel`. *A* is the left stream and *B* the right one; two numbers, and
two letters such as "TN", always have that of the left stream first. With logical windows, `windows` are rates times
lengths (KN-09). Formulas that are here only because a paper prints them come from `paper`.
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
from punctuated.plan.cost.paper.closed_forms import hh_ht_ratio, ht_nt_ratio, th_hh_ratio, tn_th_ratio
from punctuated.plan.cost.paper.limited_output import (
    cpu_limited_output_rate,
    limited_output_rate,
    memory_limited_output_rate,
    output_rate_of_left_rate,
    output_rate_of_left_window,
    output_rate_of_split,
    split_resources,
)
from punctuated.plan.cost.paper.one_way import btree_cost, hash_cost, nested_loops_cost, ttree_cost
from punctuated.plan.cost.paper.pwjoin_state import purge_probability, pwjoin_state
from punctuated.plan.cost.paper.table import PAPER_TABLE, Workload
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
    "btree_cost",
    "calibrated_weights",
    "candidates",
    "cpu_limited_output_rate",
    "crossovers",
    "direction_costs",
    "hash_cost",
    "hh_ht_ratio",
    "ht_nt_ratio",
    "insert_cost",
    "invalidate_cost",
    "limited_output_rate",
    "load_weights",
    "memory_limited_output_rate",
    "nested_loops_cost",
    "one_way_cost",
    "output_rate",
    "output_rate_of_left_rate",
    "output_rate_of_left_window",
    "output_rate_of_split",
    "probe_cost",
    "purge_probability",
    "pwjoin_state",
    "save_weights",
    "selectivity",
    "split_resources",
    "th_hh_ratio",
    "tn_th_ratio",
    "ttree_cost",
    "unit_time_cost",
    "weights_content",
    "weights_path",
    "window_state",
]
