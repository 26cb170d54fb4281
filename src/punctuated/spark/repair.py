"""A way out of a state that Spark cannot leave by itself.

Killed between the commit of its file sink and its own, a query repeats the batch when it is started again. The sink has
it already, so Spark does not run it, finds no state of it, and fails with "CheckpointInfo length: 0", for ever. If the
sink forgets the batch, it is written again; files of the first attempt are in no list of the sink any more, so readers
do not see them.
"""

from pathlib import Path

from punctuated.errors import SnapshotError


def forget_uncommitted(checkpoint: Path, sink: Path) -> list[int]:
    """Let a file sink forget the batches that its query has not committed; returns their numbers."""
    commits, written = checkpoint / "commits", sink / "_spark_metadata"
    if not (checkpoint / "offsets").is_dir():
        raise SnapshotError(f"{checkpoint} is no checkpoint of a query: it has no folder 'offsets'")
    if not written.is_dir():
        raise SnapshotError(f"{sink} was written by no file sink: it has no folder {written.name!r}")
    last = max((_number(entry) for entry in commits.iterdir()), default=-1) if commits.is_dir() else -1
    surplus = [entry for entry in written.iterdir() if _number(entry) > last]
    for entry in surplus:
        entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
        entry.unlink()
    return sorted(map(_number, surplus))


def _number(entry: Path) -> int:
    """Of the batch; -1 for other files."""
    name = entry.name.removesuffix(".compact")
    return int(name) if name.isdecimal() else -1
