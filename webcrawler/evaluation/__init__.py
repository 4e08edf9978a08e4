"""Which ordering was better? A laboratory for the orders in which URLs are visited (Cho 1998).

`read` takes a recorded graph from a file, `compare` lets virtual crawlers go over it with the real `Frontier`
and the real ranks, `Results` holds their figures: tables with intervals, and rows for other libraries.
`runs` gives one crawl after the other; `measures` say how good an order was, `plots` show it.
"""

from webcrawler.evaluation import hotness, plots, tidy
from webcrawler.evaluation.figures import Metrics, Run, tables
from webcrawler.evaluation.laboratory import experiments, runs
from webcrawler.evaluation.measures import check_flush
from webcrawler.evaluation.pace import Pace
from webcrawler.evaluation.provenance import hash_of, provenance
from webcrawler.evaluation.recorded import Recorded, read
from webcrawler.evaluation.results import SEEDS, Results, compare
from webcrawler.evaluation.runner import private_redis, processors

__all__ = [
    "SEEDS",
    "Metrics",
    "Pace",
    "Recorded",
    "Results",
    "Run",
    "check_flush",
    "compare",
    "experiments",
    "hash_of",
    "hotness",
    "plots",
    "private_redis",
    "processors",
    "provenance",
    "read",
    "runs",
    "tables",
    "tidy",
]
