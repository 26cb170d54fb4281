"""`punctuated cost`: the cost model of window joins, and the size of a query, at the command line."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from punctuated.cli.output import AsJson, print_json
from punctuated.model.memory import show_size
from punctuated.model.window import parse_duration
from punctuated.plan import cost
from punctuated.plan.sizing import TUPLE_BYTES, QuerySize, size_query

cost_app = typer.Typer(no_args_is_help=True, help="What window joins cost, and how large a query will be.")

Two = tuple[float, float]
WINDOWS_HELP = "Tuples in the windows of the left and the right stream."
BucketSize = Annotated[float, typer.Option(help="Tuples per bucket of a hash index.")]
NodeSize = Annotated[int, typer.Option(help="Tuples per node of a tree.")]
Calibrated = Annotated[bool, typer.Option("--calibrated", help="Use the weights of this machine, not the paper's.")]


@cost_app.command("table")
def show_table(as_json: AsJson = False) -> None:
    """Print Table 3 of Kang, Naughton and Viglas: as printed, by the formulas, and with the weights of this machine.

    Costs are seconds of CPU per 60 seconds of input; the cheapest pair is marked.
    """
    weights = cost.calibrated_weights()
    lines = [(workload, _costs_by_source(workload, weights)) for workload in cost.PAPER_TABLE]
    if as_json:
        print_json([{"windows": each.windows, "rates": each.rates} | sources for each, sources in lines])
        return
    for workload, sources in lines:
        (a, b), (rate_a, rate_b) = workload.windows, workload.rates
        typer.echo(f"windows of {a:,} and {b:,} tuples, {rate_a:,} and {rate_b:,} tuples per second")
        Console().print(_workload_table(workload, sources))


@cost_app.command("best")
def show_best(
    windows: Annotated[Two, typer.Option(help=WINDOWS_HELP)],
    rates: Annotated[Two, typer.Option(help="Tuples per second of the left and the right stream.")],
    predicate: Annotated[str, typer.Option(help=f"One of {', '.join(cost.PREDICATES)}.")] = "=",
    structures: Annotated[str, typer.Option(help="Structures to choose from.")] = "NHBT",
    matches: Annotated[Two, typer.Option(help="Expected matches of a probe, in each window.")] = (0, 0),
    bucket_size: BucketSize = cost.BUCKET_SIZE,
    node_size: NodeSize = cost.NODE_SIZE,
    calibrated: Calibrated = False,
    as_json: AsJson = False,
) -> None:
    """List the pairs of structures that a predicate allows, the cheapest first."""
    found = cost.candidates(
        windows=windows,
        rates=rates,
        predicate=predicate,
        structures=structures,
        weights=_weights(calibrated),
        bucket_size=bucket_size,
        node_size=node_size,
        matches=matches,
    )
    if as_json:
        print_json([asdict(each) for each in found])
        return
    table = Table("pair", "left window", "right window")
    for title in ("cost", "left probes right", "right probes left"):
        table.add_column(title, justify="right")
    for each in found:
        left, right = (cost.STRUCTURES[structure] for structure in each.pair)
        costs = (_number(number) for number in (each.cost, *each.directions))
        table.add_row(each.pair, left, right, *costs, style="bold green" if each is found[0] else None)
    Console().print(table)


@cost_app.command("crossovers")
def show_crossovers(
    windows: Annotated[Two, typer.Option(help=WINDOWS_HELP)] = (5000, 5000),
    all_pairs: Annotated[bool, typer.Option("--all", help="Show all 16 pairs, not just the 8 in the paper.")] = False,
    bucket_size: BucketSize = cost.BUCKET_SIZE,
    node_size: NodeSize = cost.NODE_SIZE,
    calibrated: Calibrated = False,
    as_json: AsJson = False,
) -> None:
    """Print the shares of the left stream in all input at which another pair of structures becomes the cheapest."""
    pairs, weights = cost.ALL_PAIRS if all_pairs else cost.SHOWN_PAIRS, _weights(calibrated)
    found = cost.crossovers(windows, pairs=pairs, weights=weights, bucket_size=bucket_size, node_size=node_size)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    if not found:
        typer.echo("no crossovers: one pair is the cheapest at every share, see `punctuated cost best`")
        return
    table = Table("cheapest before", "and after")
    for title in ("share of the left stream", "left : right"):
        table.add_column(title, justify="right")
    for each in found:
        table.add_row(each.before, each.after, f"{each.share:.2%}", f"{each.ratio:,.4g} : 1")
    Console().print(table)


@cost_app.command("plan")
def show_plan(
    left_rate: Annotated[float, typer.Option(help="Tuples per second of the left stream.")],
    right_rate: Annotated[float, typer.Option(help="Tuples per second of the right stream.")],
    left_values: Annotated[float, typer.Option(help="Distinct join values of the left stream.")],
    right_values: Annotated[float, typer.Option(help="Distinct join values of the right stream.")],
    left_window: Annotated[str | None, typer.Option(help='Such as "1 hour".', show_default="none")] = None,
    right_window: Annotated[str | None, typer.Option(help='Such as "1 hour".', show_default="none")] = None,
    left_punctuations: Annotated[float, typer.Option(help="Punctuations per second of the left stream.")] = 0,
    right_punctuations: Annotated[float, typer.Option(help="Punctuations per second of the right stream.")] = 0,
    left_lifetime: Annotated[
        str | None,
        typer.Option(
            help="How long a left tuple waits on average until the right stream ends its value.",
            show_default="by values and punctuations",
        ),
    ] = None,
    right_lifetime: Annotated[
        str | None, typer.Option(help="The same for a right tuple.", show_default="by values and punctuations")
    ] = None,
    elapsed: Annotated[
        str | None, typer.Option(help="Time since the start, over which values are counted.", show_default="a window")
    ] = None,
    selectivity: Annotated[
        float | None, typer.Option(help="Share of all pairs that are results.", show_default="1 / values")
    ] = None,
    tuple_bytes: Annotated[float, typer.Option(help="Bytes of a stored tuple.")] = TUPLE_BYTES,
    bucket_memory: Annotated[str, typer.Option(help="What a bucket may hold.")] = "1 GiB",
    cores: Annotated[float | None, typer.Option(help="Cores at hand.", show_default="as needed")] = None,
    throughput: Annotated[
        float | None,
        typer.Option(
            help="Tuples per second of a core, measured with your own query. The built-in CPU times were measured with "
            "narrow rows from Parquet files and no sink.",
            show_default="built-in CPU times",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict state, memory, results and cores of a join on Spark from rates and windows."""
    windows, rates = (left_window, right_window), (left_rate, right_rate)
    size = size_query(
        rates=rates,
        windows=windows,
        distinct_values=(left_values, right_values),
        punctuation_rates=(left_punctuations, right_punctuations),
        lifetimes=(left_lifetime, right_lifetime),
        elapsed=elapsed,
        selectivity=selectivity,
        tuple_bytes=tuple_bytes,
        bucket_memory=bucket_memory,
        cores=cores,
        throughput=throughput,
    )
    if as_json:
        print_json(asdict(size) | {"memory_bytes": size.memory_bytes})
        return
    Console().print(_streams_table(rates, windows, size))
    Console().print(_totals_table(size))


def _weights(calibrated: bool) -> cost.Weights:
    return cost.load_weights() if calibrated else cost.KANG_WEIGHTS


def _costs_by_source(workload: cost.Workload, weights: cost.Weights | None) -> dict[str, Mapping[str, float]]:
    """The costs of all pairs: as printed, by the formulas, and with the weights of this machine if there are any."""
    sources = {"paper": workload.printed, "recomputed": workload.costs()}
    return sources if weights is None else sources | {"calibrated": workload.costs(weights)}


def _workload_table(workload: cost.Workload, sources: Mapping[str, Mapping[str, float]]) -> Table:
    table = Table("pair")
    for name in sources:
        table.add_column(name, justify="right")
    cheapest = {name: min(costs, key=lambda pair: costs[pair]) for name, costs in sources.items()}
    for pair in workload.printed:
        table.add_row(pair, *(_marked(costs[pair], cheapest[name] == pair) for name, costs in sources.items()))
    return table


def _marked(number: float, is_cheapest: bool) -> Text:
    return Text(f"* {_number(number)}", style="bold green") if is_cheapest else Text(_number(number))


def _number(number: float) -> str:
    """A cost as text: with two decimals as in the paper; one with calibrated weights may need more."""
    return f"{number:,.2f}" if number >= 0.1 or number == 0 else f"{number:.3g}"


def _streams_table(rates: Two, windows: tuple[str | None, str | None], size: QuerySize) -> Table:
    table = Table("stream")
    for title in ("tuples per second", "window", "lifetime", "tuples in state", "memory"):
        table.add_column(title, justify="right")
    for side, name in enumerate(("left", "right")):
        window, lifetime_s = windows[side], size.lifetimes_s[side]
        spans = (None if window is None else parse_duration(window) / 1e6), lifetime_s
        shown = ("none" if each is None else _span(each) for each in spans)
        tuples, held = f"{size.tuples[side]:,.0f}", show_size(int(size.tuple_bytes[side]))
        table.add_row(name, f"{rates[side]:,g}", *shown, tuples, held)
    return table


def _span(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 1000 else f"{seconds:.3g} s"


def _totals_table(size: QuerySize) -> Table:
    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("memory of punctuations", f"{show_size(int(size.punctuation_bytes))} ({size.punctuations:,.0f})")
    table.add_row("memory in all", show_size(int(size.memory_bytes)))
    table.add_row("results per second", f"{size.results_per_s:,.0f}")
    table.add_row("CPU seconds per second", f"{size.cpu_s:,.2f}")
    table.add_row("cores needed", f"{size.cores_needed:,}")
    if size.load is not None:
        table.add_row("load of the cores at hand", f"{size.load:.0%}")
    table.add_row("buckets", f"{size.buckets:,} of {show_size(int(size.bucket_bytes))}")
    return table
