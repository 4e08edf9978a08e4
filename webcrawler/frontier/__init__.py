"""Which URL next?

`Frontier` keeps every URL seen in exactly one state, in Redis, and hands the best due ones out as
leases; `ordering(mode)` says what best means; `inspect` answers what waits and why.
"""

from webcrawler.frontier.frontier import Done, Failed, Frontier, Leased, Politeness, Report
from webcrawler.frontier.orderings import Ordering, ordering

__all__ = ["Done", "Failed", "Frontier", "Leased", "Ordering", "Politeness", "Report", "ordering"]
