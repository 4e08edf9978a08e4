"""Other signals that end a command as Ctrl-C does: what it started has to be ended in any case."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def made_of(*signals: signal.Signals) -> Iterator[None]:
    """The first of them raises KeyboardInterrupt, the next do nothing: ending takes a moment.

    One that is ignored (nohup) stays so. For the main thread.
    """
    before = {number: signal.getsignal(number) for number in signals}
    ours = [number for number in signals if before[number] == signal.SIG_DFL]

    def interrupt(number: int, frame: object) -> None:
        for number in ours:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in ours:
            signal.signal(number, interrupt)
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
