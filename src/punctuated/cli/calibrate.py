"""`punctuated cost calibrate`: measures what structures cost on this machine, to choose between them (KN-18)."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from punctuated.cli.output import AsJson, print_json, progress_bar
from punctuated.plan import cost

if TYPE_CHECKING:
    from punctuated.runtime.calibration import Calibration


def calibrate_machine(
    out: Annotated[
        Path | None, typer.Option(help="File for the weights.", show_default="where joins look for them")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the weights of all structures on this machine and save them; takes about 20 seconds.

    Joins that choose their structures themselves use the saved weights from then on.
    """
    calibration = _calibrate(quiet=as_json)
    path = cost.save_weights(calibration.weights, out)
    if as_json:
        print_json({"path": str(path)} | _content(calibration))
        return
    Console().print(_weights_table(calibration))
    Console().print(_fitted_table(calibration.weights))
    typer.echo(_index_line(calibration.weights))
    typer.echo(str(path))


def _calibrate(*, quiet: bool) -> "Calibration":
    from punctuated.runtime.calibration import calibrate  # compiles kernels

    with progress_bar("calibrating", quiet=quiet) as progress:
        return calibrate(progress)


def _content(calibration: "Calibration") -> dict[str, Any]:
    return {
        "weights": cost.weights_content(calibration.weights),
        "plain": cost.weights_content(calibration.plain),
        "lines": [
            asdict(line) | {"slope": line.slope, "saturation_rate": line.saturation_rate} for line in calibration.lines
        ],
    }


def _weights_table(calibration: "Calibration") -> Table:
    """P and I by the method of the paper, beside the values in the paper."""
    saturated = {(line.setting.structure, line.setting.work): line for line in calibration.usual_lines}
    table = Table("structure", title="Seconds of CPU per 60 s of input, for one tuple touched per second")
    for title in ("P", "paper", "I", "paper", "searches/s", "updates/s"):
        table.add_column(title, justify="right")
    for letter, name in cost.STRUCTURES.items():
        here, paper = calibration.plain.of(letter), cost.KANG_WEIGHTS.of(letter)
        numbers = [f"{number:.1e}" for number in (here.P, paper.P, here.I, paper.I)]
        rates = [f"{saturated[letter, work].saturation_rate / 1e6:.1f} M" for work in ("search", "update")]
        table.add_row(f"{letter} {name}", *numbers, *rates)
    return table


def _fitted_table(weights: cost.Weights) -> Table:
    """The saved weights: fitted to windows of several sizes, with fixed costs, and costs of a doubling and a match."""
    title = f"Fitted to windows of several sizes; the join around a tuple costs {weights.loop:.2g}"
    table = Table("", "for", title=title)
    for column in ("P", "fixed", "doubling", "match", "I", "fixed"):
        table.add_column(column, justify="right")
    for predicate, shown in (("=", "NHBT"), ("band", "NBT")):
        for letter in shown:
            each = weights.serving(predicate).of(letter)
            numbers = (each.P, each.search, each.doubling, each.match or 0.0, each.I, each.update)
            table.add_row(letter, predicate, *(f"{number:.1e}" if number else "" for number in numbers))
    return table


def _index_line(weights: cost.Weights) -> str:
    index = weights.value_index
    assert index is not None  # it was measured
    return (
        f"index of values: {index.arrival:.1e} a tuple, {index.new_value:.1e} more if its value is new, "
        f"{index.match:.1e} a match"
    )
