"""What `pt.configure` sets, and what it leaves."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from punctuated.spark.session import session
from punctuated.spark.session.session import AT_START, IF_UNSET, REQUIRED, configure


class Conf(dict[str, str]):
    """Settings of a session."""

    def set(self, name: str, value: str) -> None:
        self[name] = value


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine is asked."""
    monkeypatch.setattr(session, "check_worker_python", lambda spark: None)
    monkeypatch.setattr(session, "_is_on_local_files", lambda spark: False)


def configured(given: dict[str, Any]) -> Conf:
    conf = Conf(given)
    configure(cast(SparkSession, SimpleNamespace(conf=conf)))
    return conf


@pytest.mark.usefixtures("alone")
def test_rows_come_to_workers_in_pieces_unless_the_session_says_how_large() -> None:
    [(name, value)] = IF_UNSET.items()
    assert configured({})[name] == value
    assert configured({name: "1000"})[name] == "1000"


@pytest.mark.usefixtures("alone")
def test_what_is_required_is_set_whatever_was_there() -> None:
    conf = configured(dict.fromkeys(REQUIRED, "other"))
    assert {name: conf[name] for name in REQUIRED} == REQUIRED


@pytest.mark.usefixtures("alone")
def test_what_only_the_start_of_a_session_can_set_is_said_once_it_is_late(caplog: pytest.LogCaptureFixture) -> None:
    [(name, value)] = AT_START.items()
    with caplog.at_level("INFO", "punctuated.session"):
        assert name not in configured({})
        assert name in caplog.text
        caplog.clear()
        configured({name: value})
    assert name not in caplog.text
