"""Which URL next?

`Frontier` keeps every URL seen in exactly one state, in Redis, and hands the best due ones out as
leases; `ordering(mode)` says what best means; `inspect` answers what waits and why.
"""

from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.messages import Done, Failed, Leased, Politeness, Report
from webcrawler.frontier.orderings import Ordering, ordering

__all__ = ["Done", "Failed", "Frontier", "Leased", "Ordering", "Politeness", "Report", "ordering"]
