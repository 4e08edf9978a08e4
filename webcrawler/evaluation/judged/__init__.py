"""Which ranking was better? Rankings on queries whose answers people have judged.

`read` takes a test collection from a folder and `build` makes a data folder of it, with a real catalog and
index; `read_judgments` takes judgments of pages, such as those made on the search page. `compare` asks the
real `Searcher` every query; `Comparison` says which ranking was better, by the measures of ir-measures (extra
`judge`), and how sure that is; `tables` prints it.
"""

from webcrawler.evaluation.judged.collection import (
    Collection,
    Paper,
    build,
    read,
    read_feedback,
    read_judgments,
)
from webcrawler.evaluation.judged.comparison import (
    MEASURES,
    Comparison,
    check_library,
    compare,
    measure,
    tables,
)

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
    "read_judgments",
    "tables",
]
