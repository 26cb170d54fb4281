"""Where the examples find their data, and what several of them ask of a join.

Data come in packages from PyPI, or in files of a folder: the one that the variable PUNCTUATED_DATA names, or
`shared/data` beside this repository. What is not there ends the script with a message that says what to do.
"""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa

import punctuated as pt

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

Tables = Mapping[str, pa.Table | Sequence[pa.Table]]  # of each stream: a table, or its batches


class MissingData(SystemExit):
    """Data that are not there, and how to get them."""


def of_package(package: str, file: str) -> Path:
    """A file of a package, which is found and not imported: some load all their data, or need other packages for it."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise MissingData(f"{file} is in a package that is not installed: pip install {package}")
    return Path(found.origin).parent / "data" / file


def of_folder(file: str) -> Path:
    """A file of the folder of data."""
    path = Path(os.environ.get("PUNCTUATED_DATA", BESIDE)) / file
    if not path.exists():
        raise MissingData(f"{file} is not in {path.parent}; set PUNCTUATED_DATA to the folder that has it")
    return path


def stored(joined: pt.Join) -> list[int]:
    """How many tuples all streams together had stored, from sample to sample."""
    states = [name for name in joined.metrics.column_names if name.startswith("state_")]
    return [sum(sample.values()) for sample in joined.metrics.select(states).to_pylist()]


def sizes(tables: Mapping[str, pa.Table], unit: str) -> list[str]:
    """A line for each stream: its name and how many rows it has."""
    width = max(map(len, tables))
    return [f"  {name:<{width}}  {table.num_rows:>9,} {unit}" for name, table in tables.items()]
