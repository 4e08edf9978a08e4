"""Which ranking was better? Rankings on queries whose answers people have judged.

`read` takes a collection from a folder and `built` makes a crawl's data folder of it, with a real catalog and
index; `feedback` takes what was judged on the search page. `judge` asks the real `Searcher` for every query;
`Verdict` says which ranking was better, by the measures of ir-measures (extra `judge`).
"""

from webcrawler.evaluation.judged.build import build
from webcrawler.evaluation.judged.collection import Collection, Judgments, read, read_feedback
from webcrawler.evaluation.judged.measures import MEASURES, check, measure
from webcrawler.evaluation.judged.verdict import Verdict, judge, means, per_query

__all__ = [
    "MEASURES",
    "Collection",
    "Judgments",
    "Verdict",
    "build",
    "check",
    "judge",
    "means",
    "measure",
    "per_query",
    "read",
    "read_feedback",
]
