"""A script without Spark: each statement in turn, on all the rows that are there."""

from collections.abc import Sequence

from punctuated.cli.run_check import counted, where
from punctuated.cli.run_view import View
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.parse.errors import at
from punctuated.sql.parse.syntax import Explain
from punctuated.sql.run.script import CheckedStatement, Script, bound, recorded_warnings
from punctuated.sql.run.sinks import CONSOLE
from punctuated.sql.run.tables import check_written_here, write_results
from punctuated.sql.sources.tables import TableSources


def run_on_tables(script: Script, checked: Sequence[CheckedStatement], view: View) -> None:
    """Run the statements of a script that was checked."""
    written = set[str]()
    for each in checked:
        if each.target is not None:
            with at(each.task.position):
                check_written_here(each.target, written)
                written.add(each.target.shown)
    catalog = script.catalog(TableSources(script.folder))
    for each in checked:
        with at(each.task.position), recorded_warnings() as said:
            _run(each, script, catalog, view)
        for text in said:
            if text not in each.warnings:  # those of the check were shown
                view.say(f"{where(script.path, each)}: warning: {text}")


def _run(checked: CheckedStatement, script: Script, catalog: Catalog, view: View) -> None:
    query, target = bound(checked.task, catalog), checked.target
    if isinstance(checked.task, Explain):
        view.plan(f"{where(script.path, checked)}: EXPLAIN", query.explain())
    elif target is None or target.format == CONSOLE:
        view.rows(f"line {checked.task.position.line}", query.results)
    else:
        n = write_results(query, target)
        view.say(f"{target.name} → {target.shown}: {counted(n, 'row')}")
