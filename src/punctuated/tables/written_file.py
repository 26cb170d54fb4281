"""A file that a worker has written: what the driver must know to make it visible, as a row that Spark can carry."""

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class WrittenFile:
    """One Parquet file of a part of the output."""

    part: str  # of the output, by the kind of its rows
    name: str
    bucket: int
    number: int  # among the files of its bucket
    n_rows: int
    n_bytes: int
    partition: tuple[tuple[str, str | None], ...]
    stats: str  # of its columns, as Delta has them

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "WrittenFile":
        """From its text."""
        fields = json.loads(text)
        partition = tuple((name, value) for name, value in fields.pop("partition"))
        return WrittenFile(**fields, partition=partition)
