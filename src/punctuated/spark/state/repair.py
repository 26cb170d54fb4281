"""Repairs a checkpoint that Spark's file sink cannot go on with: the sink has a batch that was not committed.

A query may be killed between the commit of its file sink and its own commit. It then repeats the batch when it is
started again. The sink has the batch already, so Spark does not run it, finds no state of it, and fails with
"CheckpointInfo length: 0", every time. If the sink forgets the batch, it is written again. Files of the first attempt
are then in no list of the sink, so readers do not see them.

The sink of another query looks like one with too many batches. So exactly this state is repaired and every other one is
refused, and what the sink forgets is kept in a folder beside its log.
"""

from dataclasses import dataclass
from pathlib import Path

from punctuated.errors import SnapshotError


@dataclass(frozen=True)
class Repair:
    """A batch that the sink must forget, its entry in the sink's log, and the folder where the entry is kept."""

    batch: int
    entry: Path
    kept_in: Path

    def carry_out(self) -> None:
        """Let the sink forget the batch."""
        self.kept_in.mkdir()
        checksum = self.entry.with_name(f".{self.entry.name}.crc")
        for file in (checksum, self.entry):  # the entry last: without its checksum it still counts
            if file.exists():
                file.rename(self.kept_in / file.name)


def find_repair(checkpoint: Path, sink: Path) -> Repair | None:
    """The repair that a killed query needs, or None; raises if these folders are not those of such a query."""
    offsets, commits, log = checkpoint / "offsets", checkpoint / "commits", sink / "_spark_metadata"
    if not offsets.is_dir():
        raise SnapshotError(f"{checkpoint} is not a checkpoint of a query: it has no folder 'offsets'")
    if not log.is_dir():
        raise SnapshotError(f"{sink} was not written by a file sink: it has no folder {log.name!r}")
    written, committed = _batches(log), max(_batches(commits), default=-1)
    surplus = sorted(batch for batch in written if batch > committed)
    if not surplus:
        return None
    begun = max(_batches(offsets), default=-1)
    if surplus != [committed + 1] or begun != committed + 1:
        raise SnapshotError(
            f"{sink} has batch {_listed(surplus)}, which {checkpoint} has not committed: it has committed up to "
            f"{_shown(committed)} and begun up to {_shown(begun)}. A query that was killed lacks the commit of the one "
            "batch that it has begun; is this the checkpoint of the query that wrote there?"
        )
    batch = surplus[0]
    _check_without(written, batch, log)
    return Repair(batch, written[batch], _free_folder(sink, batch))


def _check_without(written: dict[int, Path], batch: int, log: Path) -> None:
    """Raise if the log would not be complete without this batch, from the last entry that holds all before it."""
    whole = [number for number, entry in written.items() if number < batch and entry.suffix == ".compact"]
    lacking = [number for number in range(max(whole, default=0), batch) if number not in written]
    if lacking:
        raise SnapshotError(
            f"{log} lacks batch {_listed(lacking)}, which is merged with batch {batch}: that cannot be removed any "
            "more; start with a new checkpoint and a new folder"
        )


def _batches(folder: Path) -> dict[int, Path]:
    """The files of a log by the numbers of their batches."""
    files = {file.name.removesuffix(".compact"): file for file in folder.iterdir()} if folder.is_dir() else {}
    return {int(name): file for name, file in files.items() if name.isdecimal()}


def _free_folder(sink: Path, batch: int) -> Path:
    """A new folder beside the log, hidden from readers like the log."""
    names = (f"_forgotten_batch_{batch}{suffix}" for suffix in ("", *map("_{}".format, range(2, 1000))))
    return next(folder for folder in map(sink.joinpath, names) if not folder.exists())


def _listed(batches: list[int]) -> str:
    few = ", ".join(map(str, batches[:3]))
    return few if len(batches) <= 3 else f"{few} … {batches[-1]}"


def _shown(batch: int) -> str:
    return "nothing" if batch < 0 else f"batch {batch}"
