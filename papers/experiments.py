"""All experiments by name, in the order of their papers."""

from papers.kang import bucket_sizes, estimated_cost, measured_cost, shedding
from papers.lab.experiment import Experiment
from papers.pjoin import closer_looks, rounds
from papers.pwjoin import best_case, memory, planned_state, predicted_state, punctuations, throughput
from papers.wjoin import rates, stores, windows

_MODULES = (
    best_case,
    memory,
    throughput,
    punctuations,
    predicted_state,
    planned_state,
    estimated_cost,
    measured_cost,
    bucket_sizes,
    shedding,
    stores,
    rates,
    windows,
    rounds,
    closer_looks,
)
EXPERIMENTS: dict[str, Experiment] = {each.name: each for module in _MODULES for each in module.EXPERIMENTS}
