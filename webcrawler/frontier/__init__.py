"""Which URL next?

`Frontier` keeps every URL seen in exactly one state, in Redis, and hands the best due ones out as
leases; `ordering(mode)` says what best means; `inspect` answers what waits and why, `upkeep` clears and
rescores.
"""

from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.messages import Budgets, Done, Failed, Leased, Politeness, Report, Reports
from webcrawler.frontier.orderings import Known, Ordering, Seen, Source, ordering

__all__ = [
    "Budgets",
    "Done",
    "Failed",
    "Frontier",
    "Known",
    "Leased",
    "Ordering",
    "Politeness",
    "Report",
    "Reports",
    "Seen",
    "Source",
    "ordering",
]
