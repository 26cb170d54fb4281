"""Figure 5 of Kang, Naughton and Viglas: five ways to share out CPU that does not suffice for all tuples (KN-37).

The paper: all of it to the stream that probes the larger window (MaxA) gives the most results, the opposite (MaxB) the
fewest. A tuple that gets no CPU is stored all the same, but does not probe.
"""

from punctuated.experiments.shed_run import SheddingJoin
from punctuated.experiments.shed_strategies import Contest, ranked

CONTEST = Contest(
    SheddingJoin(rates=(800.0, 200.0), windows=(100, 200), values=(100, 100), seconds=300.0),
    strategies={
        "MaxA": "max-left",
        "MaxB": "max-right",
        "proportional to rates": "by-rate",
        "proportional to windows": "by-window",
        "equal": "equal",
    },
    expected=(200.0, 100.0, 180.0, 133.33, 150.0),
    claim="MaxA gives the most results, MaxB the fewest",
    holds=lambda found: (ranked(found)[0], ranked(found)[-1]) == ("MaxA", "MaxB"),
    title="CPU for 100 of 1,000 tuples/s\n$\\lambda_a$=800, $\\lambda_b$=200, A=100, B=200, $\\sigma$=0.01, $\\mu$=100",
    rate=100.0,
)
EXPERIMENT = CONTEST.experiment("kn_fig05", "Strategies for limited CPU", "Kang et al., figure 5")
