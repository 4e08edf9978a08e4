"""What does a real-time search do next, and what has it found?

`RealtimeSearch` and the `Driver` that runs it are imported when they are asked for: they need the index, the
ranking and SciPy, without which others can ask what a search has found.
"""

from typing import TYPE_CHECKING, Any

from webcrawler.realtime import journal
from webcrawler.realtime.examples import urls_of
from webcrawler.realtime.job import ENOUGH, RealtimeJob
from webcrawler.realtime.journal import KEEP, Found, Journal

if TYPE_CHECKING:
    from webcrawler.realtime.driver import Driver
    from webcrawler.realtime.search import RealtimeSearch
else:

    def __getattr__(name: str) -> Any:
        if name not in ("Driver", "RealtimeSearch"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from webcrawler.realtime import driver

        return getattr(driver, name)


__all__ = [
    "ENOUGH",
    "KEEP",
    "Driver",
    "Found",
    "Journal",
    "RealtimeJob",
    "RealtimeSearch",
    "journal",
    "urls_of",
]
