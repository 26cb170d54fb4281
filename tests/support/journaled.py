"""Drivers that go on from what others have saved."""

from collections.abc import Callable

from punctuated.operator.driver import JoinDriver
from punctuated.snapshot.journal import Journal, restore


def journaled(make: Callable[[], JoinDriver], every: int = 1) -> Callable[[JoinDriver], JoinDriver]:
    """After each batch the journal is written, and after every so many a new driver goes on that knows nothing else."""
    journal, entries = Journal(), list[bytes]()

    def go_on(driver: JoinDriver) -> JoinDriver:
        nonlocal journal
        entries.append(journal.write(driver))
        if len(entries) % every:
            return driver
        fresh = make()
        journal = restore(fresh, entries)
        assert fresh.state.n_stored.tolist() == driver.state.n_stored.tolist()
        return fresh

    return go_on
