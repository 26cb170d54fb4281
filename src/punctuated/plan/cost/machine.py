"""The weights that plans go by: those saved for this machine, or else those of the reference machine.

`punctuated cost calibrate` measures and saves some; how, is in `punctuated.experiments.calibration`.
"""

from dataclasses import replace

from punctuated.plan.cost.weights import ValueIndexWeight, Weight, Weights
from punctuated.plan.cost.weights_file import calibrated_weights

# Measured on 15 November 2026 on one core of an AMD EPYC (Zen 4, 1 MiB of L2), with Python 3.11 and numba 0.68.1;
# medians of 5 calibrations.
REFERENCE_WEIGHTS = Weights(
    N=Weight(P=6.4e-09, I=5.4e-07, search=1.41e-07, match=4.9e-06),
    H=Weight(P=8.89e-08, I=7e-07, match=5.22e-07, doubling=7.18e-08),
    B=Weight(P=2.78e-07, I=4.02e-07, update=1.9e-06, match=5.71e-07),
    T=Weight(P=2.4e-07, I=4.47e-07, update=2.18e-06, match=5.55e-07),
    loop=1.58e-06,
    ceilings=False,
    by_range=Weights(
        N=Weight(P=1.4e-08, I=5.4e-07, match=1.05e-05),
        H=Weight(P=8.89e-08, I=7e-07, match=5.22e-07, doubling=7.18e-08),
        B=Weight(P=3.15e-07, I=4.36e-07, update=1.58e-06, match=5.16e-07),
        T=Weight(P=2.85e-07, I=4.58e-07, update=2.13e-06, match=5.21e-07),
        loop=1.58e-06,
        ceilings=False,
    ),
    value_index=ValueIndexWeight(arrival=2.7e-06, new_value=1.2e-06, match=1.8e-07),
)


def machine_weights() -> Weights:
    """The weights of this machine; what a file of an older version does not have is that of the reference machine."""
    saved = calibrated_weights()
    if saved is None:
        return REFERENCE_WEIGHTS
    return saved if saved.value_index is not None else replace(saved, value_index=REFERENCE_WEIGHTS.value_index)
