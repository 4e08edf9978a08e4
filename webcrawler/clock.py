"""What time is it? Whatever is stored, shown or compared as a time asks here, so that tests can set it.

WEBCRAWLER_CLOCK sets it for a process and those that it starts: `+86400` or `-3600`, seconds from the clock
of the machine, or `@1700000000.55`, a moment at which it stands.

A clock may be set back, or have been ahead when something was stored. So durations go by `time.monotonic`,
and what lies in the future is now: a stored time is never taken for later than the present (`past`), and what
is said to have happened then is done again (`happened`).

It does not set the clocks of others: that of durations (`time.monotonic`), of Redis, by which leases and
politeness go, of the file system, and of libraries.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any

NAME = "WEBCRAWLER_CLOCK"

_seconds, _runs = 0.0, True


def now() -> float:
    """Seconds since 1970."""
    return _seconds + (time.time() if _runs else 0.0)


def past(moment: float) -> float:
    """A time that was stored, or that others tell, as one that is over."""
    return min(moment, now())


def happened(moment: Any, since: float) -> Any:
    """Between that time and now? For each time of an array, too. What lies in the future did not."""
    return (since <= moment) & (moment <= now())


def age(file: os.stat_result) -> float:
    """Seconds since a file was changed, by the clock of file systems: `now` may be another."""
    return time.time() - file.st_mtime


def set_to(to: str) -> None:
    """Set the clock of this process, as WEBCRAWLER_CLOCK does; empty: it is the machine's.

    Raises SystemExit: it is none of these.
    """
    global _seconds, _runs
    if not re.fullmatch(r"([+-]\d+(\.\d+)?|@\d+(\.\d+)?)?", to):
        raise SystemExit(f"{NAME}={to[:60]} is not valid: +SECONDS, -SECONDS, or @SECONDS since 1970")
    _seconds, _runs = float(to.lstrip("@") or 0), not to.startswith("@")


set_to(os.environ.get(NAME, ""))
