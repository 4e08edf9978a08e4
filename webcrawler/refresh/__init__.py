"""When is a page worth fetching again?

`Schedule` holds what is known of all pages as arrays: it takes in checks (`see`), learns what each server's
pages are like (`learn`), and chooses which to fetch (`choose`). `value` has the formulas. None of these knows
files, Redis or a clock. The refresher is built of them: `collection` follows the catalog, `admission` queues
checks.

`report` says how fresh the collection of a data folder is, `outlook` what is believed of one page.
"""

from webcrawler.refresh import value
from webcrawler.refresh.admission import checks_of
from webcrawler.refresh.belief import POLICIES, Gamma
from webcrawler.refresh.freshness import outlook, report
from webcrawler.refresh.refresher import Checking
from webcrawler.refresh.schedule import Calibration, Current, Schedule, current
from webcrawler.refresh.value import choose, importance

__all__ = [
    "POLICIES",
    "Calibration",
    "Checking",
    "Current",
    "Gamma",
    "Schedule",
    "checks_of",
    "choose",
    "current",
    "importance",
    "outlook",
    "report",
    "value",
]
