"""Which ordering was better? A laboratory for the orders in which URLs are visited (Cho 1998).

`read` takes a recorded graph from a file, `runs` lets virtual crawlers go over it with the real `Frontier`
and the real ranks, `measures` say how good an order was, `tables` and `plots` show it.
"""

from webcrawler.evaluation import hotness, plots
from webcrawler.evaluation.figures import Metrics, Run, tables
from webcrawler.evaluation.laboratory import experiments, private_redis, runs
from webcrawler.evaluation.measures import check_flush
from webcrawler.evaluation.recorded import read

__all__ = [
    "Metrics",
    "Run",
    "check_flush",
    "experiments",
    "hotness",
    "plots",
    "private_redis",
    "read",
    "runs",
    "tables",
]
