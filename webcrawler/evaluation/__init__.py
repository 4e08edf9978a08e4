"""Which ordering was better? A laboratory for the orders in which URLs are visited (Cho 1998).

`read` takes a recorded graph from a file, `compare` lets virtual crawlers go over it with the real `Frontier`
and the real ranks, `Results` holds their figures: tables with intervals.
`runs` gives one crawl after the other; `measures` say how good an order was, `plots` show it.
"""

from webcrawler.evaluation import hotness, plots
from webcrawler.evaluation.laboratory import SEEDS, Results, Run, compare, experiments, runs
from webcrawler.evaluation.measures import Metrics, check_flush
from webcrawler.evaluation.recorded import Recorded, read
from webcrawler.evaluation.runner import private_redis, processors

__all__ = [
    "SEEDS",
    "Metrics",
    "Recorded",
    "Results",
    "Run",
    "check_flush",
    "compare",
    "experiments",
    "hotness",
    "plots",
    "private_redis",
    "processors",
    "read",
    "runs",
]
