"""The published experiments, rerun: each returns plain data with checks of the paper's claims, and draws a picture."""

from punctuated.experiments import (
    eq01_state,
    fig07_best_case,
    fig08_memory,
    fig09_throughput,
    fig10_irrelevant,
    fig11_punctuations,
    fig12_one_sided,
    kn_bucket_sizes,
    kn_fig02,
    kn_fig03,
    kn_fig04,
    kn_fig05,
    kn_fig06,
    kn_fig07,
    kn_table3,
    planned_state,
    wj_fig07,
    wj_fig08,
    wj_fig09a,
    wj_fig09b,
    wj_fig09c,
    wj_fig13,
    wj_fig14,
)
from punctuated.experiments.experiment import Experiment

_MODULES = (
    fig07_best_case,
    fig08_memory,
    fig09_throughput,
    fig10_irrelevant,
    fig11_punctuations,
    fig12_one_sided,
    eq01_state,
    planned_state,
    kn_fig02,
    kn_fig03,
    kn_fig04,
    kn_table3,
    kn_bucket_sizes,
    kn_fig05,
    kn_fig06,
    kn_fig07,
    wj_fig07,
    wj_fig08,
    wj_fig09a,
    wj_fig09b,
    wj_fig09c,
    wj_fig13,
    wj_fig14,
)
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}

__all__ = ["EXPERIMENTS", "Experiment"]
