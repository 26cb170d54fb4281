"""Figure 7 of Kang, Naughton and Viglas: five ways to share out CPU and memory if both are limited (KN-42).

The paper: all memory to one window and all CPU to the other stream's probes gives the most results, whichever is which;
an equal split comes next, and both to the same stream gives the fewest: none, if nothing is left for the other one.
"""

from punctuated.experiments.shed_run import SheddingJoin
from punctuated.experiments.shed_strategies import Contest, Found


def _is_crossed_first(found: Found) -> bool:
    crossed_one, crossed_two, same_one, same_two, equal = (float(each["measured"]) for each in found.values())
    return min(crossed_one, crossed_two) > equal > 0 == same_one == same_two


CONTEST = Contest(
    # The paper names no rates; either stream could take all CPU.
    SheddingJoin(rates=(20.0, 20.0), windows=(100, 100), values=(100, 100), seconds=3000.0),
    strategies={
        "MaxA / Max λb": "left-window/right-rate",
        "MaxB / Max λa": "right-window/left-rate",
        "MaxA / Max λa": "left-window/left-rate",
        "MaxB / Max λb": "right-window/right-rate",
        "equal": "equal",
    },
    expected=(10.0, 10.0, 0.0, 0.0, 5.0),
    claim="The crossed strategies are the best, equal comes next, the others give nothing",
    holds=_is_crossed_first,
    title="CPU for 10 tuples/s and memory for 100 tuples\n$\\mu$=10, M=100, $\\sigma$=0.01",
    rate=10.0,
    tuples=100.0,
)
EXPERIMENT = CONTEST.experiment("kn_fig07", "Strategies for limited CPU and memory", "Kang et al., figure 7")
