"""Figure 6 of Kang, Naughton and Viglas: five ways to share out memory that does not suffice for both windows (KN-40).

The paper: all of it to the window of the slower stream (MaxA) gives the most results. The complete windows are as large
as all memory, and what is kept of them is chosen at random.
"""

from punctuated.experiments.shed_run import SheddingJoin
from punctuated.experiments.shed_strategies import Contest, is_order

ORDER = ("MaxA", "inverse to rates", "equal", "proportional to rates", "MaxB")

CONTEST = Contest(
    SheddingJoin(rates=(10.0, 50.0), windows=(1000, 1000), values=(200, 100), seconds=1500.0),
    strategies={
        "MaxA": "max-left",
        "MaxB": "max-right",
        "proportional to rates": "by-rate",
        "inverse to rates": "inverse-rate",
        "equal": "equal",
    },
    expected=(250.0, 50.0, 83.33, 216.67, 150.0),
    claim="The more memory the slower stream's window gets, the more results",
    holds=lambda found: is_order(found, ORDER),
    title="Memory for 1,000 tuples\n$\\lambda_a$=10, $\\lambda_b$=50, $\\sigma_a$=0.005, $\\sigma_b$=0.01, M=1,000",
    tuples=1000.0,
)
EXPERIMENT = CONTEST.experiment("kn_fig06", "Strategies for limited memory", "Kang et al., figure 6")
