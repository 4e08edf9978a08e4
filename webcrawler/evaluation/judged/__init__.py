"""Which ranking was better? Rankings on queries whose answers people have judged.

`read` takes a test collection from a folder and `build` makes a data folder of it, with a real catalog and
index; `read_feedback` takes the judgments made on the search page. `compare` asks the real `Searcher` every
query; `Comparison` says which ranking was better, by the measures of ir-measures (extra `judge`).
"""

from webcrawler.evaluation.judged.collection import Collection, Paper, build, read, read_feedback
from webcrawler.evaluation.judged.comparison import MEASURES, Comparison, check_library, compare, measure

__all__ = [
    "MEASURES",
    "Collection",
    "Comparison",
    "Paper",
    "build",
    "check_library",
    "compare",
    "measure",
    "read",
    "read_feedback",
]
