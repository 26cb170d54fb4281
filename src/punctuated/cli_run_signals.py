"""Ctrl-C and its like: the first asks a run to stop, the second ends it at once."""

import os
import signal
import sys
from types import FrameType, TracebackType
from typing import Any

_HEARD = (signal.SIGINT, signal.SIGTERM)
_BY_SIGNAL = 128  # exit codes of processes that a signal ended begin here
_SHOW_CURSOR = b"\x1b[?25h"  # a live view hides it


class Interrupts:
    """Hears SIGINT and SIGTERM as long as it is open; `asked` once one has come.

    A handler may interrupt anything, a view that holds a lock among it: so it does no more than it must.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def listen(self) -> None:
        """From now on, also where others have put their own handlers meanwhile."""
        for each in _HEARD:
            before = signal.signal(each, self._hear)
            self._before.setdefault(each, before)

    def __enter__(self) -> "Interrupts":
        self.listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            if sys.__stdout__ is not None and sys.__stdout__.isatty():
                os.write(sys.__stdout__.fileno(), _SHOW_CURSOR)
            os._exit(_BY_SIGNAL + number)  # nothing is lost: a checkpoint outlives its query at any moment
        self.asked = True
