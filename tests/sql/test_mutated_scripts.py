"""Scripts, mutated at random: each is an error with a place, found by the check or by the run, or it runs on tables."""

import io
import warnings
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from punctuated.cli.run import run_on_tables
from punctuated.cli.view import LinesView
from punctuated.errors import PunctuatedError
from punctuated.sql.parse.dialect import tokens_of
from punctuated.sql.run.script import check_ends, check_script, read_script

SCRIPT = """CREATE STREAM b (item BIGINT, price DOUBLE, at TIMESTAMP, done BOOLEAN, TIME at, KEY item,
PUNCTUATED BY WHEN done AND price > 1, LATENESS 5 MINUTES, WINDOW [RANGE 1 HOUR])
FROM 'parquet' OPTIONS (path 'bids', maxFilesPerTrigger 1);
CREATE STREAM g (KEY item_id, TIME opened_at, PUNCTUATED BY UNIQUE)
FROM 'generator' OPTIONS (stream 'auctions', auctions 10, seed 1, step '5 minutes');
CREATE STREAM e (KEY item, TIME at) FROM 'parquet' OPTIONS (path 'bids');
CREATE STREAM c (item BIGINT, price DECIMAL(5, 2), TIME item, KEY item, PUNCTUATED BY ENDINGS e)
FROM 'csv' OPTIONS (path 'c.csv', header true, sep ',');
INSERT INTO 'parquet' OPTIONS (path 'out', rejected 'rejected', sort_by 'n', file_size '64 MiB')
SELECT item, COUNT(*) AS n FROM b GROUP BY item HAVING n > 0;
INSERT INTO 'csv' OPTIONS (path 'csv') SELECT b.item, g.item_id FROM b JOIN g ON b.item = g.item_id;
EXPLAIN SELECT * FROM g;
SELECT c.price FROM c, b [NOW] WHERE c.item = b.item;
"""
SPANS = [(token.start, token.end + 1) for token in tokens_of(SCRIPT)]
STRANGE = ("0", "-1", "''", "'x'", "9" * 30, '"', "1e9", "UNIQUE", "PATTERNS", "UNTIL", "DATE", "'delta'", "'rate'")
WORDS = sorted({SCRIPT[start:end] for start, end in SPANS} | set(STRANGE))


def mutated(random: Random) -> str:
    """The script with a word left out, doubled, or with another one in its place or before it."""
    (start, end), new = random.choice(SPANS), random.choice(WORDS)
    before, word, after = SCRIPT[:start], SCRIPT[start:end], SCRIPT[end:]
    return before + random.choice(("", f"{word} {word}", new, f"{new} {word}")) + after


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bids").mkdir()
    at = pa.array([1, 2, 3], pa.timestamp("us"))
    bids = pa.table({"item": [1, 2, 1], "price": [1.5, 2.5, 3.5], "at": at, "done": [False, True, True]})
    pq.write_table(bids, tmp_path / "bids" / "part.parquet")
    (tmp_path / "c.csv").write_text("item,price\n1,2.5\n2,3\n", encoding="utf-8")
    return tmp_path


def run(path: Path) -> PunctuatedError | None:
    silent = LinesView(io.StringIO(), io.StringIO())
    try:
        script = read_script(path)
        checked = check_script(script)
        check_ends(script)
        run_on_tables(script, checked, silent)
    except PunctuatedError as error:
        return error
    return None


def test_a_mutated_script_runs_or_says_where_it_is_wrong(folder: Path) -> None:
    random, path = Random(16), folder / "script.sql"
    path.write_text(SCRIPT, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(path) is None
        for _ in range(200):
            path.write_text(mutated(random), encoding="utf-8")
            error = run(path)
            assert error is None or str(error).startswith("line "), path.read_text(encoding="utf-8")
