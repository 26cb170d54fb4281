"""`punctuated run FILE.sql`: a script of streams and queries is checked, and run on Spark or on tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from punctuated.cli.output import AsJsonLines, counted
from punctuated.cli.run_check import file_position, show_plan
from punctuated.cli.view import ProgressView
from punctuated.errors import PunctuatedError
from punctuated.model.window import parse_duration
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.parse.errors import at
from punctuated.sql.parse.syntax import Explain
from punctuated.sql.run.script import CheckedStatement, Script, bound, recorded_warnings
from punctuated.sql.run.sinks import CONSOLE
from punctuated.sql.run.tables import check_written_here, write_results
from punctuated.sql.sources.tables import TableSources

_ROWS = 20  # of a micro-batch are shown on a terminal


def run_on_tables(script: Script, checked: Sequence[CheckedStatement], view: ProgressView) -> None:
    """Run the statements of a script that has passed the check."""
    written = set[str]()
    for each in checked:
        if each.target is not None:
            with at(each.task.position):
                check_written_here(each.target, written)
                written.add(each.target.shown)
    catalog = script.catalog(TableSources(script.folder))
    for each in checked:
        with at(each.task.position), recorded_warnings() as caught:
            _run(each, script, catalog, view)
        for text in caught:
            if text not in each.warnings:  # these were shown before the run
                view.say(f"{file_position(script.path, each)}: warning: {text}")


def _run(checked: CheckedStatement, script: Script, catalog: Catalog, view: ProgressView) -> None:
    query, target = bound(checked.task, catalog), checked.target
    if isinstance(checked.task, Explain):
        show_plan(view, script, checked, query.explain())
    elif target is None or target.format == CONSOLE:
        view.rows(f"line {checked.task.position.line}", query.results)
    else:
        n = write_results(query, target)
        view.say(f"{target.name} → {target.shown}: {counted(n, 'row')}")


# The command


def run_script(
    file: Annotated[Path, typer.Argument(help="Script: CREATE STREAM, INSERT INTO, SELECT and EXPLAIN statements.")],
    follow: Annotated[bool, typer.Option("--follow", help="Go on as rows come in, until Ctrl-C.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Read what is there and leave the streams open for the next run.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only check the script and show its plans.")] = False,
    tables: Annotated[bool, typer.Option("--tables", help="Without Spark, in this process: read all, end.")] = False,
    rows: Annotated[
        int, typer.Option(min=0, help="Rows of a micro-batch that a terminal shows of a SELECT; 0 shows all.")
    ] = _ROWS,
    trigger: Annotated[
        str | None, typer.Option(help="With --follow, the time between micro-batches, such as '10 seconds'.")
    ] = None,
    master: Annotated[str, typer.Option(help="Where Spark runs.")] = "local[*]",
    conf: Annotated[list[str] | None, typer.Option(help="Setting of Spark, as name=value; repeat it.")] = None,
    as_json: AsJsonLines = False,
) -> None:
    """Run a script of streams and queries.

    By default it runs to the end: everything that is there is read, then the streams end, so that the last groups and
    unmatched rows come out. With --once the streams stay open, and the next run goes on behind the last row that was
    read. With --follow it goes on until Ctrl-C, which stops it between two micro-batches.
    """
    _check_options(follow, once, tables, trigger)
    settings = dict(_setting(each) for each in conf or ())

    from punctuated.cli.run_check import show_plans, show_warnings, sql_errors  # sqlglot takes a while to import
    from punctuated.cli.view import choose_view
    from punctuated.sql.run.script import check_ends, check_script, read_script

    view = choose_view(as_json, rows or None)
    with sql_errors(file, view):
        script = read_script(file)
        checked = check_script(script)
        if not check and not follow:
            check_ends(script)
        show_warnings(view, file, checked)
        if check:
            show_plans(script, checked, as_json)
        elif tables:
            run_on_tables(script, checked, view)
        else:
            from punctuated.cli.run_spark import SparkOptions, run_on_spark
            from punctuated.sql.run.spark import Until

            until = Until.STOPPED if follow else Until.CAUGHT_UP if once else Until.ENDED
            run_on_spark(script, checked, view, SparkOptions(until, _interval(trigger), master, settings))


def _check_options(follow: bool, once: bool, tables: bool, trigger: str | None) -> None:
    if follow and once:
        raise PunctuatedError("--follow goes on and --once does not: give one of them")
    if tables and (follow or once):
        raise PunctuatedError("--tables reads all there is and ends: leave out --follow and --once, or --tables")
    if trigger is not None and not follow:
        raise PunctuatedError("--trigger is for --follow; a run to the end takes one micro-batch after the other")
    _interval(trigger)


def _interval(trigger: str | None) -> str | None:
    """The time between micro-batches as Spark reads it, which does not know '10s'."""
    return None if trigger is None else f"{parse_duration(trigger) // 1000} milliseconds"


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise PunctuatedError(f"--conf {text}: give name=value, such as spark.sql.shuffle.partitions=8")
    return name.strip(), value.strip()
