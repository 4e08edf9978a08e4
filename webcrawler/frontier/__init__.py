"""Which URL next?

`Frontier` keeps every URL seen in exactly one state, in Redis, and leases out the best ones that are due;
`ordering(mode)` says which are best; `inspect` answers what waits and why, `maintenance` clears and rescores.
"""

from webcrawler.frontier import inspect, maintenance, marks
from webcrawler.frontier.bottleneck import CAUSES, Bottleneck, bottleneck
from webcrawler.frontier.calls import Calls
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.homes import folder_name, home_of
from webcrawler.frontier.inspect import Standing, standing
from webcrawler.frontier.messages import (
    WAITING,
    Again,
    Budgets,
    Done,
    Failed,
    Leased,
    Past,
    Politeness,
    Report,
    Reports,
)
from webcrawler.frontier.slots import Client, now_ms
from webcrawler.orderings import Known, Ordering, Seen, Source, ordering

__all__ = [
    "CAUSES",
    "WAITING",
    "Again",
    "Bottleneck",
    "Budgets",
    "Calls",
    "Client",
    "Done",
    "Failed",
    "Frontier",
    "Known",
    "Leased",
    "Ordering",
    "Past",
    "Politeness",
    "Report",
    "Reports",
    "Seen",
    "Source",
    "Standing",
    "bottleneck",
    "folder_name",
    "home_of",
    "inspect",
    "maintenance",
    "marks",
    "now_ms",
    "ordering",
    "standing",
]
