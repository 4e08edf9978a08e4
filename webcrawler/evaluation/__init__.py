"""Which ordering was better? A laboratory for the orders in which URLs are visited (Cho 1998).

`read` takes a recorded graph from a file, `runs` lets virtual crawlers go over it that drive the real
`Frontier` and the real ranks, `measures` and `buffer` say how good an order was, `plots` shows it.
"""

from webcrawler.evaluation import buffer, hotness, plots
from webcrawler.evaluation.experiments import Experiment, experiments
from webcrawler.evaluation.figures import Figures, Judge, Wanted
from webcrawler.evaluation.graph_files import read
from webcrawler.evaluation.hotness import conditions
from webcrawler.evaluation.laboratory import Progress, Run, private_redis, runs
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
    "buffer",
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
