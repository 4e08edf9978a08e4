"""Which ordering was better? A laboratory for the orders in which URLs are visited (Cho 1998).

`read` takes a recorded graph from a file, `runs` lets virtual crawlers go over it that drive the real
`Frontier` and the real ranks, `measures` say how good an order was, `plots` shows it.
"""

from webcrawler.evaluation import hotness, plots
from webcrawler.evaluation.figures import Figures, Judge, Wanted
from webcrawler.evaluation.graph_files import read
from webcrawler.evaluation.hotness import conditions
from webcrawler.evaluation.laboratory import Experiment, Progress, Run, experiments, private_redis, runs
from webcrawler.evaluation.measures import check_flush
from webcrawler.evaluation.recorded import Recorded
from webcrawler.evaluation.report import tables
from webcrawler.evaluation.virtual import Web, crawl

__all__ = [
    "Experiment",
    "Figures",
    "Judge",
    "Progress",
    "Recorded",
    "Run",
    "Wanted",
    "Web",
    "check_flush",
    "conditions",
    "crawl",
    "experiments",
    "hotness",
    "plots",
    "private_redis",
    "read",
    "runs",
    "tables",
]
