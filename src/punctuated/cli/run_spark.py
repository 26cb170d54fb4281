"""A script on Spark: a session of this process, gone at the end."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from punctuated.cli.run_session import Interrupts, Session
from punctuated.cli.run_view import View
from punctuated.errors import PunctuatedError
from punctuated.spark.session.local import check_java, local_spark
from punctuated.sql.run.script import CheckedStatement, Script
from punctuated.sql.run.sinks import CONSOLE, Target
from punctuated.sql.run.spark import Until, phases


@dataclass(frozen=True)
class SparkOptions:
    """How a script runs on Spark."""

    until: Until
    trigger: str | None
    master: str
    settings: Mapping[str, str]


def run_on_spark(script: Script, checked: Sequence[CheckedStatement], view: View, options: SparkOptions) -> None:
    """Run the statements of a script that was checked; returns when they are over or were stopped."""
    check_java(f"try the script without Spark: punctuated run --tables {script.path}")
    with _folder() as folder, Interrupts() as stop, ExitStack() as stack:
        log = folder / "spark.log"
        with view.busy("starting Spark"):
            session = local_spark(f"punctuated run {script.path.name}", folder, log, options.settings, options.master)
            spark = stack.enter_context(session)
        stop.listen()  # a session puts a handler of its own in place
        if stop.asked:
            return
        runs = Session(spark, script, view, stop)
        tasks, starts = _with_targets(checked, folder), phases(options.until, options.trigger)
        with _log_kept(log):
            if options.until is Until.STOPPED:
                runs.run_together(tasks, starts[0])
            else:
                runs.run_in_turn(tasks, starts)


def _with_targets(checked: Sequence[CheckedStatement], folder: Path) -> list[CheckedStatement]:
    """Queries by names of their own, numbered where two are alike; a SELECT prints, with a checkpoint of this run."""
    seen: Counter[str] = Counter()
    found: list[CheckedStatement] = []
    for each in checked:
        target = each.target or Target(f"line {each.task.position.line}", CONSOLE, "")
        seen[target.name] += 1
        number = seen[target.name]
        name = target.name if number == 1 else f"{target.name} ({number})"
        checkpoint = target.checkpoint or folder / "checkpoints" / str(len(found))
        found.append(replace(each, target=replace(target, name=name, checkpoint=checkpoint)))
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder of this run, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="punctuated-run-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _log_kept(log: Path) -> Iterator[None]:
    """What Spark said is kept if something fails, and the error says where."""
    try:
        yield
    except PunctuatedError as error:
        kept = Path(tempfile.gettempdir()) / f"{log.parent.name}.log"
        shutil.copy(log, kept)
        error.add_note(f"what Spark said is in {kept}")
        raise
