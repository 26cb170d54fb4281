"""Runs a script without Spark: each statement in turn, on all rows that are there."""

from collections.abc import Sequence

from punctuated.cli.output import counted
from punctuated.cli.run_check import file_position, show_plan
from punctuated.cli.view import ProgressView
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.parse.errors import at
from punctuated.sql.parse.syntax import Explain
from punctuated.sql.run.script import CheckedStatement, Script, bound, recorded_warnings
from punctuated.sql.run.sinks import CONSOLE
from punctuated.sql.run.tables import check_written_here, write_results
from punctuated.sql.sources.tables import TableSources


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
