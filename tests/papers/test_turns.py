from threading import Thread

from papers.lab.spark_engine import Turns
from patience import LONGEST_S


def run(turns: Turns, name: str, batches: int, met: list[str]) -> None:
    for _ in range(batches):
        turns.take(name)
        met.append(name)
    turns.leave(name)


def run_together(turns: Turns, batches: dict[str, int]) -> list[str]:
    met: list[str] = []
    threads = [Thread(target=run, args=(turns, name, n, met)) for name, n in batches.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=LONGEST_S)
    assert not any(thread.is_alive() for thread in threads)
    return met


def test_each_in_its_turn_whoever_comes_first() -> None:
    turns = Turns(["a", "b", "c"])
    assert run_together(turns, {"c": 3, "b": 3, "a": 3}) == ["a", "b", "c"] * 3
    assert {name: len(seconds) for name, seconds in turns.seconds.items()} == {"a": 3, "b": 3, "c": 3}
    assert all(each >= 0 for seconds in turns.seconds.values() for each in seconds)


def test_nobody_waits_for_those_who_left() -> None:
    turns = Turns(["a", "b"])
    assert run_together(turns, {"a": 1, "b": 4}) == ["a", "b", "b", "b", "b"]


def test_who_waits_goes_on_when_it_has_left() -> None:
    turns, met = Turns(["a", "b"]), list[str]()
    waiting = Thread(target=run, args=(turns, "b", 2, met))
    waiting.start()
    turns.leave("b")  # a never comes
    waiting.join(timeout=LONGEST_S)
    assert met == ["b", "b"]
