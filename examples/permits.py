"""Permits to travel, declarations of what it has cost, and payments: three streams, joined on the permit.

python examples/permits.py      the log of travel permits of the BPI Challenge 2020, where its file is present

The results are the same whatever proves that tuples may be forgotten; what is remembered is not.
"""

import warnings
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

import punctuated as pt
from real_data import Tables, of_folder, sizes, stored

STEPS = {  # the events of the log that make a stream
    "permit": "Permit FINAL_APPROVED",
    "declaration": "Declaration FINAL_APPROVED",
    "payment": "Payment Handled",
}
LONGEST = "365 days"  # no case of the log takes longer from its first step to its last
WIDTH = 33  # of the first column


class Log(NamedTuple):
    """The steps of all cases, and when the cases end."""

    steps: dict[str, pa.Table]  # by stream: permit, at, and whether it is the `last` of this permit in this stream
    over: pa.Table  # permit and at: the last event of the case, whatever it is


def read_log() -> Log:
    """A log is written when all is over: in it one can see what a system that runs the cases knows while they run."""
    events = pd.read_parquet(of_folder("bpic2020_permit_events.parquet")).rename(columns={"ts": "at"})
    events = events.sort_values("at", kind="stable")
    over = events.drop_duplicates("permit", keep="last")[["permit", "at"]]
    steps = {name: _steps(events[events["activity"].str.startswith(step)]) for name, step in STEPS.items()}
    return Log(steps, pa.Table.from_pandas(over, preserve_index=False))


def _steps(events: pd.DataFrame) -> pa.Table:
    steps = events[["permit", "at"]].assign(last=~events["permit"].duplicated(keep="last"))
    return pa.Table.from_pandas(steps, preserve_index=False)


def query(steps: Tables, within: str | None = None, punctuations: Any = None) -> pt.Join:
    """A result is a permit, a declaration and a payment of the same case."""
    streams = (
        pt.stream(table, name=name, key="permit", time="at", punctuations=punctuations) for name, table in steps.items()
    )
    return pt.join(*streams, within=within, sample_every="6 hours")


def proofs(over: Any) -> dict[str, dict[str, Any]]:
    """What may tell that tuples can be forgotten, as options of the query; `over` is a table, or its batches."""
    flags = pt.when("last")
    return {
        "nothing": {},
        "a window of a year": {"within": LONGEST},
        "flags of the last of each stream": {"punctuations": flags},
        "flags, and the end of the case": {"punctuations": flags | pt.endings(over, key="permit", time="at")},
    }


def answer(log: Log) -> list[str]:
    """What was asked for, and what it takes by each proof, line by line."""
    joined = {proof: query(log.steps, **options) for proof, options in proofs(log.over).items()}
    results = joined["nothing"].results
    days = pc.days_between(results["permit_at"], results["payment_at"])
    return [
        "From the permit to travel to the payment of what it has cost",
        "",
        *sizes(log.steps, "events"),
        "",
        f"  {results.num_rows:,} results, of {pc.count_distinct(results['permit']).as_py():,} permits;",
        f"  the payment comes {pc.approximate_median(days).as_py():.0f} days after the permit (median).",
        "",
        f"  {'tuples are forgotten by':<{WIDTH}}  results   remembered at most   at the end    permits finished",
        *(_cost(proof, each) for proof, each in joined.items()),
    ]


def _cost(proof: str, joined: pt.Join) -> str:
    *states, left, _ = stored(joined)  # the last sample is taken when all streams have ended
    over = joined.punctuations.num_rows
    return f"  {proof:<{WIDTH}}  {joined.results.num_rows:>7,}   {max(*states, left):>18,}   {left:>10,}   {over:>17,}"


def main() -> None:
    """Print the answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.UnboundedStateWarning)  # it is to be seen here
        print("\n".join(answer(read_log())))


if __name__ == "__main__":
    main()
