"""What does a real-time search do next, and what has it found?"""

from webcrawler.realtime import journal, reports
from webcrawler.realtime.driver import Driver
from webcrawler.realtime.examples import urls_of
from webcrawler.realtime.job import ENOUGH, RealtimeJob
from webcrawler.realtime.journal import KEEP, Found, Journal
from webcrawler.realtime.search import RealtimeSearch

__all__ = [
    "ENOUGH",
    "KEEP",
    "Driver",
    "Found",
    "Journal",
    "RealtimeJob",
    "RealtimeSearch",
    "journal",
    "reports",
    "urls_of",
]
