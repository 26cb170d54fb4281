"""Every example prints what `examples/expected` has of it, on Spark as well where it runs there."""

from pathlib import Path

import pytest

from example_harness import printed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = {path.stem: path.read_text(encoding="utf-8") for path in sorted((EXAMPLES / "expected").glob("*.txt"))}
SHARED = {"local_spark", "real_data"}  # by several examples
ON_SPARK = [name for name in EXPECTED if "--spark" in (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")]


def test_every_example_has_its_expected_output_and_says_how_to_run_it() -> None:
    examples = {
        path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.py") if path.stem not in SHARED
    }
    assert examples.keys() == EXPECTED.keys()
    assert all(f"\npython examples/{name}.py" in text for name, text in examples.items())


@pytest.mark.parametrize("name", EXPECTED)
def test_it_prints_what_is_expected(name: str) -> None:
    assert printed(name) == EXPECTED[name]


def test_some_run_on_spark() -> None:
    assert ON_SPARK == ["auctions", "trips"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ON_SPARK)
def test_it_prints_the_same_on_spark(name: str) -> None:
    assert printed(name, "--spark") == EXPECTED[name]
